// The episodes of the policy-gradient loop, step by step, some of them ahead of the updates. Each step's are played with
// a snapshot of the weights as they were when the step was begun; nothing here trains.

import type { Sampler } from '../core/index.ts';
import { runGroups, type GroupsResult } from '../rollout/index.ts';
import { linkedController } from '../util/index.ts';
import type { RlOptions } from './rl-options.ts';

export type RlRolloutsOptions = RlOptions & {
  /** Of steps that were begun before an interruption, by step. */
  readonly samplers: ReadonlyMap<number, Sampler>;
};

export interface RlRollouts extends AsyncDisposable {
  /** Begins the episodes of a step, if they have not been begun. */
  begin(step: number): Promise<void>;
  /** The episodes of a step that was begun. */
  take(step: number): Promise<GroupsResult>;
}

export function openRlRollouts(options: RlRolloutsOptions): RlRollouts {
  const { env, trainer, renderer, sampleTasks, config, runSeed, stage, samplers } = options;
  const { sampling = { temperature: 1 }, rollout = {}, now = () => performance.now() } = options;
  const { controller, unlink } = linkedController(options.signal);
  const { signal } = controller;
  const begun = new Map<number, Promise<GroupsResult>>();

  const play = async (step: number, sampler: Sampler): Promise<GroupsResult> => {
    try {
      return await runGroups(sampleTasks(step, config.groups), config.groupSize, {
        ...rollout,
        env,
        policy: { sampler, renderer },
        sampling,
        runSeed,
        stage,
        step,
        signal,
        now,
      });
    } finally {
      await sampler[Symbol.asyncDispose]();
    }
  };

  return {
    async begin(step) {
      if (begun.has(step)) return;
      const playing = play(step, samplers.get(step) ?? (await trainer.saveWeightsAndGetSampler({ signal })));
      playing.catch(() => undefined); // whoever takes the step hears of it
      begun.set(step, playing);
    },
    async take(step) {
      const playing = begun.get(step);
      if (playing === undefined) throw new RangeError(`step ${step} was not begun`);
      const result = await playing;
      begun.delete(step);
      return result;
    },
    async [Symbol.asyncDispose]() {
      controller.abort(new DOMException('The loop is over.', 'AbortError'));
      unlink();
      await Promise.allSettled(begun.values());
    },
  };
}
