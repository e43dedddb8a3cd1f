// The report's figures against counts made by hand on a few puzzles, and its honesty about what is missing.

import { describe, expect, test } from 'vitest';
import type { Trajectory } from '../core/index.ts';
import { wilsonInterval } from '../stats/index.ts';
import { MACHINE, playEpisode, playMany, type EpisodePlan } from './fixtures/episodes.ts';
import { buildReport, reportSchema, type ReportInput } from './index.ts';

const BASELINES = [{ title: 'Blind Submit', exact: 0.0969, lenient: 0.3813 }];
const INPUT: Omit<ReportInput, 'stages'> = {
  env: 'click-checkboxes',
  model: 'nano',
  baselines: BASELINES,
  seconds: 421,
  seeds: { run: 7, evaluation: { first: 1_000_000, count: 4 } },
  machine: MACHINE,
  commit: null,
  config: { seed: 7 },
};

const invalid = (seed: number): Trajectory => ({
  ...playEpisode({ seed, wanted: [true], steps: [] }),
  outcome: { kind: 'invalid', boundary: 'browser', code: 'crashed', message: 'gone' },
});
const one = (seed: number, steps: EpisodePlan['steps']): Trajectory =>
  playEpisode({ seed, wanted: [true, true], steps });

describe('buildReport', () => {
  // Puzzles 1-4 with two boxes, both wanted: solved, short by one, unreadable, invalid.
  const base = {
    name: 'base',
    title: 'Base',
    trajectories: [one(1, [0, 1, 'submit']), one(2, [0, 'submit']), one(3, ['malformed']), invalid(4)],
  };
  const better = {
    name: 'rl',
    title: 'GRPO',
    trajectories: [one(1, [0, 'submit']), one(2, [0, 1, 'submit']), one(3, [0, 1, 'submit']), one(4, [0, 1, 'submit'])],
  };
  const report = buildReport({ ...INPUT, stages: [base, better] });

  test('gives figures over the valid episodes and the number of the others', () => {
    expect(report.stages[0]).toMatchObject({
      episodes: 4,
      valid: 3,
      invalid: 1,
      successes: 1,
      exact: 1 / 3,
      exactCI: [...wilsonInterval(1, 3)],
      lenient: 1 / 3,
      rawMean: (1 + 0 - 1) / 3,
      actionsMean: (3 + 2 + 1) / 3,
    });
  });

  test('gives the worst and best case when an episode is invalid', () => {
    expect(report.stages[0].exactBounds).toEqual([1 / 4, 2 / 4]);
    expect(report.stages[1].exactBounds).toEqual([3 / 4, 3 / 4]);
  });

  test('counts each failure once, and how short premature submits were', () => {
    expect(report.stages[0].failures).toMatchObject({ 'premature-submit': 1, 'malformed-call': 1, 'wrong-box': 0 });
    expect(report.stages[0].shortBy).toEqual([{ missing: 1, episodes: 1 }]);
    const total = Object.values(report.stages[0].failures).reduce((a, b) => a + b, 0);
    expect(total).toBe(report.stages[0].valid - report.stages[0].successes);
  });

  test('groups by number of wanted boxes', () => {
    const mixed = [playEpisode({ seed: 1, wanted: [false, false], steps: ['submit'] }), one(2, ['submit'])];
    const [stage] = buildReport({ ...INPUT, stages: [{ name: 's', title: 'S', trajectories: mixed }] }).stages;
    expect(stage.byWanted.map(({ wanted, valid, exact }) => ({ wanted, valid, exact }))).toEqual([
      { wanted: 0, valid: 1, exact: 1 },
      { wanted: 2, valid: 1, exact: 0 },
    ]);
  });

  test('compares puzzle by puzzle, only where both episodes are valid', () => {
    expect(report.comparisons).toHaveLength(1);
    expect(report.comparisons[0]).toMatchObject({
      a: 'base',
      b: 'rl',
      n: 3,
      dropped: 1,
      gained: 2,
      lost: 1,
      mcnemarP: 1,
    });
    expect(report.comparisons[0].difference).toBeCloseTo(1 / 3, 12);
  });

  test('compares neighbours, and the last with the first', () => {
    const three = buildReport({ ...INPUT, stages: [base, { ...base, name: 'sft', title: 'SFT' }, better] });
    expect(three.comparisons.map(({ a, b }) => [a, b])).toEqual([
      ['base', 'sft'],
      ['sft', 'rl'],
      ['base', 'rl'],
    ]);
    expect(three.comparisons[0]).toMatchObject({ difference: 0, bootstrapCI: null, mcnemarP: 1, detectable: null });
  });

  test('says in words what was reached, how sure that is, and what to compare it with', () => {
    const plain = (text: string): string => text.replaceAll('\u00a0', ' ');
    expect(plain(report.headline)).toBe(
      'GRPO solves 75.0 % of 4 held-out puzzles exactly (95 % interval 30.1 to 95.4 %).',
    );
    expect(plain(report.context)).toBe('Base solved 33.3 %. Blind Submit solves 9.7 %.');
  });

  test('is the same for the same episodes, and survives JSON', () => {
    const stages = [0.3, 0.8].map((diligence) => ({
      name: String(diligence),
      title: 'S',
      trajectories: playMany({ diligence, slip: 0.1 }, { first: 0, count: 60 }),
    }));
    const first = buildReport({ ...INPUT, stages });
    expect(buildReport({ ...INPUT, stages })).toEqual(first);
    expect(reportSchema.parse(JSON.parse(JSON.stringify(first)))).toEqual(first);
  });

  test('does not invent figures when every episode is invalid', () => {
    const { stages, headline } = buildReport({
      ...INPUT,
      stages: [{ name: 's', title: 'S', trajectories: [invalid(1)] }],
    });
    expect(stages[0]).toMatchObject({
      exact: null,
      exactCI: [0, 1],
      exactBounds: [0, 1],
      rawMean: null,
      actionsMean: null,
    });
    expect(headline).toBe('S: none of 1 episodes reached an outcome.');
  });

  test('refuses a stage that tried a puzzle twice', () => {
    const stages = [base, { ...better, trajectories: [one(1, ['submit']), one(1, ['submit'])] }];
    expect(() => buildReport({ ...INPUT, stages })).toThrow(/two episodes of click-checkboxes\/1/);
  });
});
