// Measurements on the way: when they are made, that they change nothing of what is learned, and that a run that was
// interrupted has the same ones.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TabwrightError, type Env, type ProgressEvent } from '../core/index.ts';
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

type Sitting = { readonly every?: number; readonly stopAfter?: number; readonly measuredIn?: Env };

async function sit(run: RunFolder, { every, stopAfter = Infinity, measuredIn }: Sitting) {
  const controller = new AbortController();
  const notes: string[] = [];
  const listener = (event: ProgressEvent): void => {
    if (event.kind === 'note') notes.push(event.message);
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
      ...(every === undefined
        ? {}
        : {
            evaluation: {
              every,
              tasks: [10, 11, 12].map((seed) => env.task(seed)),
              ...(measuredIn === undefined ? {} : { env: measuredIn }),
            },
          }),
    });
  } catch (error) {
    if (!controller.signal.aborted) throw error;
  }
  const rows = (await run.readMetrics()).map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !name.includes('time/'))),
  );
  return { rows, notes, weights: trainer.weights(), rollouts: await run.listRollouts() };
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

/** Where no episode can be opened from the second measurement on. */
function breaking(error: Error, from: number): Env {
  const env = createToyCheckboxes();
  let opened = 0;
  return {
    ...env,
    open: (task, call) => (opened++ < from ? env.open(task, call) : Promise.reject(error)),
  };
}

it('one that breaks is noted with its reason, and what is learned is learned all the same', async () => {
  await using run = await start('broken');
  await using plain = await start('whole beside it');
  const gone = new TabwrightError('browser', 'the browser is gone', { code: 'browser-died' });
  const { rows, notes, weights } = await sit(run, { every: 2, measuredIn: breaking(gone, 3) });
  const whole = await sit(plain, { every: 2 });
  expect(weights).toEqual(whole.weights);
  expect(measured(rows)).toEqual([0]);
  expect(rows.map((row) => [row['test/failed'], row['test/failure']])).toEqual(
    [undefined, undefined, 1, undefined, 1].map((failed) => [
      failed,
      failed && (expect.stringMatching(/^[a-z]+\/.*the browser is gone/) as unknown),
    ]),
  );
  expect(notes.filter((text) => /^The measurement at step [24] failed/.test(text))).toHaveLength(2);
  // Gone on with, the last one is made anew: no step is left that could be disturbed by it.
  await run[Symbol.asyncDispose]();
  await using again = await resumeRun(run.dir, { config: {} });
  const resumed = await sit(again, { every: 2 });
  expect(measured(resumed.rows)).toEqual([0, 4]);
  expect(resumed.rows.at(-1)).toEqual(whole.rows.at(-1));
});

it.each([
  ['whose configuration cannot work', new TabwrightError('config', 'these tasks need a judge', { code: 'no-judge' })],
  ['that shows a fault of ours', new TypeError('x is not a function')],
])('one %s ends the run before the first step', async (what, wrong) => {
  await using run = await start(what);
  await expect(sit(run, { every: 2, measuredIn: breaking(wrong, 0) })).rejects.toThrow(wrong.message);
  expect(await run.readMetrics()).toEqual([]);
});
