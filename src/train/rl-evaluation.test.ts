// Measurements on the way: when they are made, that they change nothing of what is learned, and that a run that was
// interrupted has the same ones.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProgressEvent } from '../core/index.ts';
import { createRun, resumeRun, type RunFolder } from '../store/index.ts';
import { createFakeTrainer, createToyCheckboxes, createToyRenderer, toyModel } from '../testing/index.ts';
import { rlConfigSchema } from './rl-config.ts';
import { rl } from './rl.ts';
import { createTaskListSampler } from './task-list-sampler.ts';

const disk = new Map<string, string>();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-rl-evaluation-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function sit(run: RunFolder, { every, stopAfter = Infinity }: { every?: number; stopAfter?: number }) {
  const controller = new AbortController();
  const listener = (event: ProgressEvent): void => {
    if (event.kind === 'step-end' && event.done === stopAfter) controller.abort();
  };
  const env = createToyCheckboxes();
  const trainer = createFakeTrainer({ ...toyModel(), disk });
  const tasks = Array.from({ length: 6 }, (_, seed) => env.task(seed));
  try {
    await rl({
      runSeed: 1,
      stage: 'train',
      run,
      listener,
      signal: controller.signal,
      env,
      trainer,
      renderer: createToyRenderer(),
      sampleTasks: createTaskListSampler({ tasks, runSeed: 1 }),
      config: rlConfigSchema.parse({ steps: 4, groups: 3, groupSize: 4, learningRate: 0.05 }),
      labels: { reward_source: 'code' },
      ...(every === undefined ? {} : { evaluation: { every, tasks: [10, 11, 12].map((seed) => env.task(seed)) } }),
    });
  } catch (error) {
    if (!controller.signal.aborted) throw error;
  }
  const rows = (await run.readMetrics()).map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !name.includes('time/'))),
  );
  return { rows, weights: trainer.weights(), rollouts: await run.listRollouts() };
}

const start = (name: string): Promise<RunFolder> => createRun(join(folder, name), { config: {} });
const measured = (rows: readonly object[]): readonly unknown[] =>
  rows.flatMap((row) => ('test/env/all/success' in row ? [(row as { step?: unknown }).step] : []));

it('measures before every n-th update and after the last, and learns what it learns without', async () => {
  await using run = await start('measured');
  await using plain = await start('plain');
  const { rows, weights, rollouts } = await sit(run, { every: 3 });
  expect(measured(rows)).toEqual([0, 3, 4]);
  expect(rollouts.filter((name) => name.startsWith('train-eval'))).toEqual([
    'train-eval-000000',
    'train-eval-000003',
    'train-eval-000004',
  ]);
  expect(rows.map((row) => row['reward_source'])).toEqual(Array(5).fill('code'));
  const without = await sit(plain, {});
  expect(measured(without.rows)).toEqual([]);
  expect(without.weights).toEqual(weights);
  expect(weights.size).toBeGreaterThan(0);
});

it.each([1, 2, 4])('interrupted after step %d and gone on with, it has the same figures', async (stopAfter) => {
  await using whole = await start(`whole ${stopAfter}`);
  const expected = await sit(whole, { every: 2 });
  const first = await start(`stopped ${stopAfter}`);
  await sit(first, { every: 2, stopAfter });
  await first[Symbol.asyncDispose]();
  await using again = await resumeRun(first.dir, { config: {} });
  const resumed = await sit(again, { every: 2 });
  expect(resumed.rows).toEqual(expected.rows);
  expect(measured(resumed.rows)).toEqual([0, 2, 4]);
  expect(resumed.weights).toEqual(expected.weights);
  // Gone on with once more, nothing is measured again.
  expect((await sit(again, { every: 2 })).rows).toEqual(expected.rows);
});
