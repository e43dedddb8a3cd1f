// A run of the embedded engine that is gone on with after its newest checkpoint was cut short: a warning, and the result
// of an uninterrupted run.

import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Datum, ProgressEvent } from '../../src/core/index.ts';
import { EmbeddedTrainer, type ModelConfig } from '../../src/engine/index.ts';
import { createRun, resumeRun, type RunFolder } from '../../src/store/index.ts';
import { createToyCheckboxes, createToyRenderer, toyModel } from '../../src/testing/index.ts';
import { createTaskSampler, rl, rlConfigSchema, sft, sftConfigSchema } from '../../src/train/index.ts';

const TINY: ModelConfig = {
  vocabSize: toyModel().vocabularySize,
  hiddenSize: 16,
  layers: 1,
  heads: 2,
  kvHeads: 2,
  headDim: 8,
  intermediateSize: 16,
  ropeTheta: 100,
  rmsNormEps: 1e-5,
  tieEmbeddings: true,
  taps: 1,
  maxPositions: 16,
};
const RL = rlConfigSchema.parse({ steps: 4, groups: 4, groupSize: 4, learningRate: 1e-2, credit: 'raw' });
const SFT = sftConfigSchema.parse({ epochs: 2, batchTokens: 8 });
const ROWS: readonly Datum[] = [1, 2, 3, 4].map((token) => ({
  tokens: [token, token + 1],
  lossInputs: { targetTokens: [token + 1, 0], weights: [0, 1] },
}));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'damaged-checkpoint-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Sitting = {
  readonly logprobs: readonly number[];
  readonly metrics: readonly object[];
  readonly warnings: string[];
};

/** Both stages, or what is missing of them, in `run`; stopped after `stopAfter` steps of the second. */
async function sit(run: RunFolder, stopAfter = Infinity): Promise<Sitting> {
  const controller = new AbortController();
  const { signal } = controller;
  const warnings: string[] = [];
  const listener = (event: ProgressEvent): void => {
    if (event.kind === 'note') warnings.push(event.message);
    if (event.kind === 'step-end' && event.stage === 'rl' && event.done === stopAfter) controller.abort();
  };
  const env = createToyCheckboxes();
  await using trainer = EmbeddedTrainer.fresh(TINY, 1, { threads: 1, scored: 'weighted' });
  const context = { runSeed: 1, run, listener, signal, trainer };
  try {
    await sft({ ...context, stage: 'sft', data: ROWS, config: SFT });
    const sampleTasks = createTaskSampler({ env, firstSeed: 0 });
    await rl({ ...context, stage: 'rl', env, renderer: createToyRenderer(), sampleTasks, config: RL });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const { logprobs } = await trainer.forward(ROWS, 'cross_entropy');
  const rows = (await run.readMetrics()).sort((a, b) => a.stage.localeCompare(b.stage) || a.step - b.step);
  const metrics = rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('time/'))),
  );
  return { logprobs: logprobs.flatMap((row) => [...row]).filter((lp) => !Number.isNaN(lp)), metrics, warnings };
}

const start = (name: string): Promise<RunFolder> => createRun(join(folder, name), { config: {} });

it.each([
  ['the online training', 'rl-000003', /going on from rl-000002/],
  ['the fine-tuning', 'sft-000002', /made again/],
])(
  'a truncated checkpoint of %s is passed over with a warning, and the result is the same',
  async (_, name, warning) => {
    await using whole = await start(`whole-${name}`);
    const expected = await sit(whole);
    expect(expected.warnings).toEqual([]);

    const first = await start(`stopped-${name}`);
    await sit(first, 3);
    await first[Symbol.asyncDispose]();
    await truncate(join(first.checkpointPath(name), 'model.safetensors'), 1000);

    await using again = await resumeRun(first.dir, { config: {} });
    const { warnings, ...result } = await sit(again);
    expect(warnings).toEqual([expect.stringMatching(warning)]);
    expect(result).toEqual({ logprobs: expected.logprobs, metrics: expected.metrics });
  },
);
