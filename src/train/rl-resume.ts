// Where the policy-gradient loop goes on: the last checkpoint of its stage, and, where episodes run ahead of the updates,
// the weights that the episodes under way were begun with. Reads; writes nothing.

import { TabwrightError, type Sampler, type Trainer } from '../core/index.ts';
import { loadLastCheckpoint, statePath } from './checkpoints.ts';
import type { TrainingContext } from './training-context.ts';

export type ResumeRlOptions = TrainingContext & { readonly trainer: Trainer; readonly stepsOffPolicy: number };

export type ResumedRl = {
  readonly firstStep: number;
  /** Of the steps that are played with weights of before the checkpoint. */
  readonly samplers: ReadonlyMap<number, Sampler>;
};

/** The trainer holds the weights of the first step that is to be run. */
export async function resumeRl(options: ResumeRlOptions): Promise<ResumedRl> {
  const { run, trainer, stage, stepsOffPolicy, signal } = options;
  const samplers = new Map<number, Sampler>();
  if (run === undefined) return { firstStep: 0, samplers };
  if (stepsOffPolicy === 0) return { firstStep: (await loadLastCheckpoint({ ...options, run }))?.batch ?? 0, samplers };

  if (!(await run.readCheckpoints()).some((record) => record.stage === stage)) return { firstStep: 0, samplers };
  // The weights of before the first update are in no checkpoint: the trainer holds them now. Each step has its own sampler.
  const untrained: Sampler[] = [];
  while (untrained.length < stepsOffPolicy) untrained.push(await trainer.saveWeightsAndGetSampler({ signal }));
  const record = await loadLastCheckpoint({ ...options, run });
  const records = await run.readCheckpoints();
  const firstStep = record?.batch ?? 0;
  for (let step = firstStep; step < firstStep + stepsOffPolicy; step++) {
    const version = Math.max(0, step - stepsOffPolicy);
    if (version === 0) {
      samplers.set(step, untrained.pop()!);
      continue;
    }
    const earlier = records.findLast((one) => one.stage === stage && one.batch === version);
    if (earlier === undefined) {
      throw new TabwrightError('store', `${run.dir} has no checkpoint ${version} of ${stage}, which episodes need.`, {
        code: 'missing-checkpoint',
        details: { stage, batch: version },
      });
    }
    await trainer.loadState(statePath(run, earlier), { signal });
    samplers.set(step, await trainer.saveWeightsAndGetSampler({ signal }));
  }
  for (const sampler of untrained) await sampler[Symbol.asyncDispose]();
  if (record !== undefined) await trainer.loadState(statePath(run, record), { signal });
  return { firstStep, samplers };
}
