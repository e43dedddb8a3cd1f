// Plays one episode of a task by a policy that needs no model, for tables of what oracles, luck and doing nothing reach.

import type { FinishedOutcome, JsonObject, StepOptions } from '../../core/index.ts';
import { blindTarget, type BlindPolicy } from './blind-policies.ts';
import { MINIWOB_ORACLES, playOracle } from './oracles/index.ts';
import type { MiniwobSuite } from './suite.ts';

export type MiniwobPolicy = 'oracle' | 'noop' | BlindPolicy;

export type MeasuredEpisode = {
  readonly task: string;
  readonly policy: MiniwobPolicy;
  readonly seed: number;
  readonly success: boolean;
  /** The page's raw reward; null where the episode did not end. */
  readonly raw: number | null;
  /** What is taken for success elsewhere: a raw reward above 0. */
  readonly lenient: boolean;
  readonly actions: number;
  /** What an oracle stumbled over. */
  readonly problem?: string;
};

export type MeasureOptions = StepOptions & {
  readonly suite: MiniwobSuite;
  readonly task: string;
  readonly policy: MiniwobPolicy;
  readonly seed: number;
};

/** Actions that a policy without a plan is given; none of its next ones would differ. */
const ACTIONS: Readonly<Record<Exclude<MiniwobPolicy, 'oracle'>, number>> = { noop: 2, submit: 2, first: 3, every: 16 };

export async function measureEpisode({ suite, task, policy, seed, signal }: MeasureOptions): Promise<MeasuredEpisode> {
  const env = suite.env([task]);
  await using episode = await env.open(env.task(seed), { signal });
  const row = (outcome: FinishedOutcome | undefined, actions: number, problem?: string): MeasuredEpisode => ({
    task,
    policy,
    seed,
    success: outcome?.success ?? false,
    raw: outcome?.stop === 'submitted' ? outcome.reward : null,
    lenient: outcome?.details.lenient === true,
    actions,
    ...(problem === undefined ? {} : { problem }),
  });
  if (policy === 'oracle') {
    const { outcome, problem } = await playOracle(MINIWOB_ORACLES[task], episode, { seed, signal });
    return row(outcome, Number(outcome?.details.actions ?? 0), problem);
  }
  const clicked = new Set<number>();
  let { page } = episode.first;
  for (let actions = 1; actions <= ACTIONS[policy]; actions++) {
    const target = policy === 'noop' ? undefined : blindTarget(policy, page, clicked);
    const [tool, args]: [string, JsonObject] = target === undefined ? ['wait', { ms: 0 }] : ['click', { target }];
    if (target !== undefined) clicked.add(target);
    const { outcome, observation } = await episode.step({ kind: 'call', tool, args }, { signal });
    if (outcome?.kind === 'finished') return row(outcome, actions);
    ({ page } = observation);
  }
  return row(undefined, ACTIONS[policy]);
}
