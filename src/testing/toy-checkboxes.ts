// `click-checkboxes` without a browser: three boxes, each wanted with probability 1/2, a Submit button, at most ten
// actions, exact success and a raw reward with partial credit. Same rules as the real one, a microsecond a step.
// Faults can be planted, so that what runs episodes can be tested against a failing world.

import {
  TabwrightError,
  type Action,
  type Env,
  type Episode,
  type FinishedOutcome,
  type Observation,
  type StepResult,
  type Task,
} from '../core/index.ts';
import { createRng, createSemaphore } from '../util/index.ts';

export const TOY_BOXES = 3;
/** Reference of the Submit button; boxes are 1 to `TOY_BOXES`. */
export const TOY_SUBMIT = TOY_BOXES + 1;
const NAMES = ['a', 'b', 'c'];

/** Where a fault may be planted. `attempt` counts the times this task was opened, from 0. */
export type ToyMoment = {
  readonly at: 'open' | 'step';
  readonly task: Task;
  readonly attempt: number;
  /** Actions taken before. */
  readonly actions: number;
};

export type ToyCheckboxesOptions = {
  /** Episodes open at once. Default 4. */
  readonly capacity?: number;
  /** Default 10. */
  readonly maxActions?: number;
  /** Awaited at each moment with the caller's signal; throws or waits to plant a fault. Default: nothing. */
  readonly disturb?: (moment: ToyMoment, signal: AbortSignal) => Promise<void>;
};

export interface ToyCheckboxes extends Env {
  /** Episodes open right now. */
  readonly openEpisodes: number;
  /** Most episodes that were ever open at once. */
  readonly peak: number;
}

/** Boxes wanted by a seed, as bits. */
export function toyWanted(seed: number): number {
  return createRng('toy-checkboxes', seed).integer(0, 2 ** TOY_BOXES);
}

export function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest > 0; rest >>= 1) count += rest & 1;
  return count;
}

export function createToyCheckboxes(options: ToyCheckboxesOptions = {}): ToyCheckboxes {
  const { capacity = 4, maxActions = 10, disturb = () => Promise.resolve() } = options;
  const slots = createSemaphore(capacity);
  const attempts = new Map<string, number>();
  let peak = 0;
  return {
    name: 'toy-checkboxes',
    capacity,
    maxActions,
    get openEpisodes() {
      return capacity - slots.available;
    },
    get peak() {
      return peak;
    },
    task(seed) {
      const wanted = NAMES.filter((_, box) => (toyWanted(seed) >> box) & 1).join(', ') || 'nothing';
      return {
        id: `toy-checkboxes/${seed}`,
        env: 'toy-checkboxes',
        instruction: `Select ${wanted} and click Submit.`,
        seed,
      };
    },
    async open(task, { signal }) {
      const release = await slots.acquire(signal);
      try {
        peak = Math.max(peak, capacity - slots.available);
        const attempt = attempts.get(task.id) ?? 0;
        attempts.set(task.id, attempt + 1);
        await disturb({ at: 'open', task, attempt, actions: 0 }, signal);
        return openEpisode({ task, attempt, maxActions, disturb, release });
      } catch (error) {
        release();
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

type EpisodeParts = {
  readonly task: Task;
  readonly attempt: number;
  readonly maxActions: number;
  readonly disturb: (moment: ToyMoment, signal: AbortSignal) => Promise<void>;
  readonly release: () => void;
};

function openEpisode({ task, attempt, maxActions, disturb, release }: EpisodeParts): Episode {
  const wanted = toyWanted(task.seed);
  let checked = 0;
  let actions = 0;

  const outcome = (stop: 'submitted' | 'max_actions'): FinishedOutcome => {
    const wrong = countBits(wanted ^ checked);
    const submitted = stop === 'submitted';
    return {
      kind: 'finished',
      success: submitted && wrong === 0,
      reward: submitted ? (TOY_BOXES - 2 * wrong) / TOY_BOXES : -1,
      stop,
      details: {
        boxes: TOY_BOXES,
        wanted: countBits(wanted),
        wrong,
        missing: countBits(wanted & ~checked),
        extra: countBits(checked & ~wanted),
        actions,
      },
    };
  };

  return {
    tools: [
      {
        name: 'click',
        description: 'Click the control with this reference.',
        parameters: { type: 'object', properties: { target: { type: 'integer' } }, required: ['target'] },
      },
    ],
    first: observe(checked),
    async step(action, { signal }): Promise<StepResult> {
      await disturb({ at: 'step', task, attempt, actions }, signal);
      actions++;
      const target = targetOf(action);
      if (target === TOY_SUBMIT) {
        return {
          observation: observe(checked),
          changed: true,
          info: { tool: 'click', target, role: 'button', name: 'Submit', effect: 'submitted' },
          outcome: outcome('submitted'),
        };
      }
      const end = actions >= maxActions ? { outcome: outcome('max_actions') } : {};
      if (target === null || target < 1 || target > TOY_BOXES) {
        const notice = target === null ? 'That was no click on a reference.' : `There is no control [${target}].`;
        return {
          observation: { ...observe(checked), notice },
          changed: false,
          info: { effect: 'error', problem: notice },
          ...end,
        };
      }
      const bit = 1 << (target - 1);
      const checkedBefore = (checked & bit) !== 0;
      checked ^= bit;
      const info = {
        tool: 'click',
        target,
        role: 'checkbox',
        name: NAMES[target - 1],
        wanted: (wanted & bit) !== 0,
        checkedBefore,
        effect: checkedBefore ? 'toggled-off' : 'toggled-on',
      };
      return {
        observation: observe(checked),
        changed: true,
        info,
        ...(actions >= maxActions ? { outcome: outcome('max_actions') } : {}),
      };
    },
    screenshot: () =>
      Promise.reject(new TabwrightError('env', 'The toy environment has no pictures.', { code: 'no-pictures' })),
    async [Symbol.asyncDispose]() {
      release();
    },
  };
}

function targetOf(action: Action): number | null {
  if (action.kind !== 'call' || action.tool !== 'click') return null;
  const { target } = action.args;
  return typeof target === 'number' ? target : null;
}

function observe(checked: number): Observation {
  const boxes = NAMES.map((name, box) => `checkbox "${name}"${(checked >> box) & 1 ? ' [checked]' : ''} [${box + 1}]`);
  return { page: [...boxes, `button "Submit" [${TOY_SUBMIT}]`].join('\n') };
}
