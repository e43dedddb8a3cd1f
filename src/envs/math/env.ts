// The simplest environment: one question in words, one reply, an exact number as the answer. No browser, no tools; a
// check that rollouts, training and evaluation need nothing of either.

import {
  TabwrightError,
  type Action,
  type Env,
  type Episode,
  type Outcome,
  type StopReason,
} from '../../core/index.ts';
import { createSemaphore } from '../../util/index.ts';
import { gradeAnswer } from './answer.ts';
import type { MathProblem } from './problems.ts';

export const MATH = 'math';

export type MathEnvOptions = {
  readonly problems: readonly MathProblem[];
  /** Episodes open at once. Default 64. */
  readonly capacity?: number;
  /** Follows each question. Default: asks for the number alone on a last line after `####`. */
  readonly request?: string;
};

const REQUEST =
  'Think it through. Then give the answer on a last line of its own: #### and one number, without a unit.';

/** `task(seed)` is the problem at `seed`, again and again from the first. Its id is `math/` and the problem's. */
export function createMathEnv({ problems, capacity = 64, request = REQUEST }: MathEnvOptions): Env {
  if (problems.length === 0) throw new TabwrightError('config', 'There are no problems.', { code: 'no-problems' });
  const byTask = new Map(problems.map((problem) => [`${MATH}/${problem.id}`, problem]));
  const slots = createSemaphore(capacity);
  return {
    name: MATH,
    capacity,
    maxActions: 1,
    task(seed) {
      const { id, question } = problems[seed % problems.length];
      return { id: `${MATH}/${id}`, env: MATH, instruction: `${question}\n\n${request}`, seed };
    },
    async open(task, { signal }) {
      const problem = byTask.get(task.id);
      if (task.env !== MATH || problem === undefined) {
        throw new TabwrightError('env', `the task ${task.id} of ${task.env} is no problem of this environment`, {
          code: 'wrong-env',
          details: { task: task.id, env: task.env },
        });
      }
      return openMathEpisode(problem, await slots.acquire(signal));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function openMathEpisode(problem: MathProblem, release: () => void): Episode {
  let over = false;
  const end = (stop: StopReason, reply: string | undefined): Outcome & { readonly kind: 'finished' } => {
    if (over) throw new TabwrightError('env', 'the episode is over; open another one', { code: 'episode-over' });
    over = true;
    const grade =
      reply === undefined
        ? { success: false, answer: null, reason: 'no answer was given' }
        : gradeAnswer(reply, problem.answer);
    return { kind: 'finished', success: grade.success, reward: grade.success ? 1 : 0, stop, details: grade };
  };
  return {
    tools: [],
    first: { page: '' },
    step(action: Action) {
      const outcome = action.kind === 'answer' ? end('answered', action.text) : end('malformed', undefined);
      return Promise.resolve({ observation: { page: '' }, changed: false, info: { kind: action.kind }, outcome });
    },
    screenshot: () =>
      Promise.reject(new TabwrightError('env', 'a question in words has no picture', { code: 'no-picture' })),
    giveUp: (stop) => Promise.resolve({ outcome: end(stop, undefined), info: {} }),
    [Symbol.asyncDispose]: () => {
      release();
      return Promise.resolve();
    },
  };
}
