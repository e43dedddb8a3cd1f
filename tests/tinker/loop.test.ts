// The policy-gradient loop on a Tinker server, over real HTTP, in an environment without a browser: it learns what it
// learns in this process, and a run that was interrupted ends where an uninterrupted one ends.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Backend, Datum, ProgressEvent, Renderer } from '../../src/core/index.ts';
import { createRun, resumeRun, type RunFolder } from '../../src/store/index.ts';
import { createToyCheckboxes, createToyRenderer, toyModel } from '../../src/testing/index.ts';
import { createTaskSampler, rl, rlConfigSchema } from '../../src/train/index.ts';
import { serveSmall, smallBackend, SMALL_MODEL, type Served } from './embedded-server.ts';

const CONFIG = rlConfigSchema.parse({ steps: 4, groups: 2, groupSize: 4, learningRate: 1e-2, credit: 'raw' });
const MODEL = { ...SMALL_MODEL, vocabSize: toyModel().vocabularySize, maxPositions: 16 };
/** One token an action, any of them one: even an untrained model solves some and fails others, as learning needs. */
const RENDERER: Renderer = {
  ...createToyRenderer(),
  maxActionTokens: 1,
  parse: ([token], tools) => createToyRenderer().parse([1 + (token % 4), 0], tools),
};
const PROBE: readonly Datum[] = [1, 2, 3].map((token) => ({
  tokens: [token, token + 1],
  lossInputs: { targetTokens: [token + 1, 0], weights: [0.5, 1] },
}));

let served: Served;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tinker-loop-'));
  served = await serveSmall({ config: MODEL });
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
  expect(served.failures).toEqual([]);
});

type Pace = { readonly stepsOffPolicy?: number; readonly saveEvery?: number; readonly beta?: number };

/** The loop, or what is missing of it in `run`; stopped when `stopAfter` steps are done. */
async function sit(
  backend: Backend,
  run: RunFolder,
  { stopAfter = Infinity, beta = 0, ...pace }: Pace & { stopAfter?: number } = {},
) {
  const controller = new AbortController();
  const { signal } = controller;
  const listener = (event: ProgressEvent): void => {
    if (event.kind === 'step-end' && event.done === stopAfter) controller.abort();
  };
  const env = createToyCheckboxes();
  await using trainer = await backend.createTrainer({ lora: { rank: 4, seed: 5 } });
  await using reference = beta > 0 ? await backend.openSampler() : undefined;
  try {
    await rl({
      ...pace,
      ...(reference === undefined ? {} : { reference }),
      runSeed: 1,
      stage: 'rl',
      run,
      listener,
      signal,
      env,
      trainer,
      renderer: RENDERER,
      sampleTasks: createTaskSampler({ env, firstSeed: 0 }),
      config: { ...CONFIG, beta },
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const { logprobs } = await trainer.forward(PROBE, 'cross_entropy');
  const metrics = (await run.readMetrics()).map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('time/'))),
  );
  const records = await run.readCheckpoints();
  const { runId } = trainer as { runId?: string };
  return { logprobs: logprobs.map((row) => [...row]), metrics, records, steps: trainer.step, runId };
}

const start = (name: string): Promise<RunFolder> => createRun(join(folder, name), { config: {} });

it.each([
  ['without a reference', 0, 0],
  // Sampled log-probabilities have 32 bits on the wire; the penalty is made of them, and weights follow in their last places.
  ['held by a KL penalty', 0.02, 1e-4],
])('learns through the server what it learns in this process, %s', { timeout: 240_000 }, async (title, beta, apart) => {
  await using local = smallBackend(MODEL);
  await using remote = await served.backend();
  await using here = await start(`here ${title}`);
  await using there = await start(`there ${title}`);
  const inProcess = await sit(local, here, { beta });
  const overHttp = await sit(remote, there, { beta });
  overHttp.logprobs.forEach((row, i) =>
    row.forEach((value, t) => expect(Math.abs(value - inProcess.logprobs[i][t])).toBeLessThanOrEqual(apart)),
  );
  expect('kl_policy_base' in inProcess.metrics.at(-1)!).toBe(beta > 0);
  expect(overHttp.steps).toBe(inProcess.steps);
  expect(overHttp.steps).toBeGreaterThan(1);
  expect(overHttp.metrics).toHaveLength(CONFIG.steps);
  for (const [i, row] of inProcess.metrics.entries()) {
    for (const [name, value] of Object.entries(row)) {
      // Sampled log-probabilities have 32 bits on the wire, so figures made of them differ in the last places.
      if (typeof value === 'number') expect(overHttp.metrics[i][name], name).toBeCloseTo(value, 5);
      else expect(overHttp.metrics[i][name]).toBe(value);
    }
  }
  // The same episodes, token by token.
  const name = 'rl-000003';
  const tokens = async (run: RunFolder) =>
    (await run.readRollouts(name)).map(({ turns }) => turns.map(({ actionTokens }) => actionTokens));
  expect(await tokens(there)).toEqual(await tokens(here));
});

const PACES: readonly (readonly [string, Pace, number])[] = [
  ['each step after the other', {}, 2],
  ['episodes two steps ahead, stopped early', { stepsOffPolicy: 2 }, 1],
  ['episodes one step ahead, stopped late', { stepsOffPolicy: 1 }, 3],
  ['a checkpoint every second step', { saveEvery: 2 }, 3],
];

describe('interrupted and gone on with in a new session, it ends as if it had never stopped', () => {
  it.each(PACES)('%s', { timeout: 240_000 }, async (name, pace, stopAfter) => {
    await using whole = await start(`whole ${name}`);
    const first = await start(`stopped ${name}`);
    await using backend = await served.backend();
    const expected = await sit(backend, whole, pace);
    {
      await using before = await served.backend();
      await sit(before, first, { ...pace, stopAfter });
    }
    await first[Symbol.asyncDispose]();
    await using again = await resumeRun(first.dir, { config: {} });
    await using after = await served.backend();
    const resumed = await sit(after, again, pace);
    expect(resumed.metrics).toEqual(expected.metrics);
    expect(resumed.logprobs).toEqual(expected.logprobs);
    expect(resumed.steps).toBe(expected.steps);
    expect(resumed.steps).toBeGreaterThan(1);
  });
});

it('playing ahead gives other figures than waiting, and always the same ones', { timeout: 240_000 }, async () => {
  await using backend = await served.backend();
  const runs = ['a', 'b', 'c'].map((name) => start(`ahead ${name}`));
  const [a, b, c] = await Promise.all(runs);
  const waiting = await sit(backend, a);
  const ahead = await sit(backend, b, { stepsOffPolicy: 1 });
  const again = await sit(backend, c, { stepsOffPolicy: 1 });
  expect(again.metrics).toEqual(ahead.metrics);
  expect(ahead.logprobs).not.toEqual(waiting.logprobs);
  expect(ahead.metrics[0]).toEqual(waiting.metrics[0]);
  for (const run of [a, b, c]) await run[Symbol.asyncDispose]();
});

it(
  'records where states and the final sampler lie, and deletes outdated states on the server',
  { timeout: 240_000 },
  async () => {
    await using backend = await served.backend();
    await using run = await start('records');
    const { records, runId } = await sit(backend, run);
    expect(records.map(({ batch }) => batch)).toEqual([1, 2, 3, 4]);
    expect(records[3]).toMatchObject({
      name: 'rl-000004',
      state_path: `tinker://${runId}/weights/rl-000004`,
      sampler_path: `tinker://${runId}/sampler_weights/rl-000004`,
      final: true,
    });
    const kept = await backend.service.rest.listRunCheckpoints(runId!);
    const paths = kept.map(({ tinker_path }) => tinker_path).filter((path) => path.includes('rl-'));
    expect(paths.sort()).toEqual([records[3].sampler_path, records[2].state_path, records[3].state_path].sort());
  },
);
