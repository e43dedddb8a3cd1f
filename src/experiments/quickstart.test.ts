// The pipeline on the toy: it learns, it is reproducible, and an interruption anywhere changes nothing.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asJson, type ProgressEvent } from '../core/index.ts';
import { createRun, readRun, resumeRun } from '../store/index.ts';
import {
  countBits,
  createFakeTrainer,
  createToyCheckboxes,
  createToyRenderer,
  toyModel,
  toyWanted,
  type FakeTrainer,
} from '../testing/index.ts';
import { MACHINE } from './fixtures/episodes.ts';
import { quickstartConfigSchema, type QuickstartConfig } from './quickstart-config.ts';
import { runQuickstart } from './quickstart.ts';
import type { Report } from './report-schema.ts';

const CONFIG = quickstartConfigSchema.parse({
  evalEpisodes: 60,
  collectEpisodes: 60,
  pictures: 0,
  sft: { epochs: 2, learningRate: 0.05, batchTokens: 200 },
  grpo: { steps: 5, groups: 6, groupSize: 6, learningRate: 0.15, beta: 0.01 },
});

type Sitting = { readonly report: Report; readonly trainer: FakeTrainer };

describe('runQuickstart', () => {
  let folder = '';
  let uninterrupted: Sitting;
  const disk = new Map<string, string>();

  /** One sitting; `stopAt` aborts at the first event it accepts. */
  async function sit(
    name: string,
    options: {
      config?: QuickstartConfig;
      resume?: boolean;
      stopAt?: (event: ProgressEvent) => boolean;
      peak?: number;
    } = {},
  ): Promise<Sitting> {
    const { config = CONFIG, resume = false, stopAt = () => false, peak = 1 } = options;
    const dir = join(folder, name);
    const json = asJson(config);
    const controller = new AbortController();
    const trainer = createFakeTrainer({ ...toyModel(), disk });
    const run = resume ? await resumeRun(dir, { config: json }) : await createRun(dir, { config: json });
    try {
      const report = await runQuickstart({
        config,
        model: 'toy',
        run,
        env: createToyCheckboxes({ capacity: config.pages }),
        trainer,
        renderer: createToyRenderer(),
        balanceKey: ({ seed }) => String(countBits(toyWanted(seed))),
        baselines: [],
        machine: () => MACHINE,
        peakMemory: () => ({ peakNodeMB: peak, peakTotalMB: 2 * peak }),
        commit: null,
        signal: controller.signal,
        listener: (event) => {
          if (stopAt(event)) controller.abort();
        },
      });
      return { report, trainer };
    } finally {
      await run[Symbol.asyncDispose]();
    }
  }

  const figures = ({ report }: Sitting) => ({ ...report, seconds: 0 });
  const curves = async (name: string) => {
    const rows = await (await readRun(join(folder, name))).readMetrics();
    return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([key]) => !key.startsWith('time/'))));
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quickstart-'));
    uninterrupted = await sit('whole');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('evaluates three stages on the same puzzles, and the last one beats the first', () => {
    const { stages } = uninterrupted.report;
    expect(stages.map(({ name, episodes }) => [name, episodes])).toEqual([
      ['base', 60],
      ['sft', 60],
      ['grpo', 60],
    ]);
    expect(stages[2].exact! - stages[0].exact!).toBeGreaterThan(0.3);
    expect(uninterrupted.report.comparisons.map(({ n }) => n)).toEqual([60, 60, 60]);
  });

  it('gives the same figures and weights for the same seed, and others for another', async () => {
    const again = await sit('again');
    expect(figures(again)).toEqual(figures(uninterrupted));
    expect(again.trainer.weights()).toEqual(uninterrupted.trainer.weights());
    const other = await sit('other', { config: { ...CONFIG, seed: 2 } });
    expect(other.trainer.weights()).not.toEqual(uninterrupted.trainer.weights());
  });

  const stops: readonly [string, (event: ProgressEvent) => boolean][] = [
    ['in the first evaluation', (event) => event.kind === 'episode-end' && event.done === 7],
    ['in the collection', (event) => event.kind === 'episode-end' && event.stage === 'collect' && event.done === 30],
    ['in the fine-tuning', (event) => event.kind === 'step-end' && event.stage === 'sft' && event.done === 2],
    ['between two stages', (event) => event.kind === 'stage-end' && event.stage === 'sft'],
    ['when online training begins', (event) => event.kind === 'stage-start' && event.stage === 'grpo'],
    ['after two of its steps', (event) => event.kind === 'step-end' && event.stage === 'grpo' && event.done === 2],
    [
      'in the last evaluation',
      (event) => event.kind === 'episode-end' && event.stage === 'grpo-eval' && event.done === 9,
    ],
  ];
  it.each(stops)('interrupted %s and resumed, it ends where it would have ended', async (name, stopAt) => {
    const dir = name.replaceAll(' ', '-');
    await expect(sit(dir, { stopAt })).rejects.toMatchObject({ name: 'AbortError' });
    const resumed = await sit(dir, { resume: true });
    expect(figures(resumed)).toEqual(figures(uninterrupted));
    expect(resumed.trainer.weights()).toEqual(uninterrupted.trainer.weights());
    expect(await curves(dir)).toEqual(await curves('whole'));
  });

  it('tells the largest memory of all sittings', async () => {
    const inCollection = (event: ProgressEvent) => event.kind === 'episode-end' && event.stage === 'collect';
    await expect(sit('memory', { stopAt: inCollection, peak: 900 })).rejects.toMatchObject({ name: 'AbortError' });
    const { report } = await sit('memory', { resume: true, peak: 500 });
    expect(report.machine).toMatchObject({ peakNodeMB: 900, peakTotalMB: 1800 });
  });

  it('counts the time of all sittings, and resumed when complete it only writes the report again', async () => {
    const events: string[] = [];
    const again = await sit('whole', { resume: true, stopAt: (event) => (events.push(event.kind), false) });
    expect(events).toEqual([]);
    expect(figures(again)).toEqual(figures(uninterrupted));
    expect(again.report.seconds).toBeGreaterThan(uninterrupted.report.seconds);
  });
});

describe('quickstartConfigSchema', () => {
  it('refuses a key it does not know', () => {
    expect(() => quickstartConfigSchema.parse({ epochs: 3 })).toThrow(/epochs/);
  });

  it('refuses what the loop would refuse, and more pages than the stages take', () => {
    expect(() => quickstartConfigSchema.parse({ grpo: { updatesPerBatch: 2 } })).toThrow(/updatesPerBatch/);
    expect(() => quickstartConfigSchema.parse({ pages: 65 })).toThrow(/pages/);
  });
});
