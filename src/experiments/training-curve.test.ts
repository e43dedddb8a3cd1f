import { expect, it } from 'vitest';
import type { FinishedOutcome } from '../core/index.ts';
import { trainingChart } from './chart-training.ts';
import { groupPoint } from './training-curve.ts';

const played = (task: string, reward: number) => ({
  task,
  outcome: { kind: 'finished', success: reward === 1, reward, stop: 'submitted', details: {} } as FinishedOutcome,
});

it('takes the groups for what is independent, not their members', () => {
  const point = groupPoint(
    3,
    [played('a', 1), played('a', 1), played('b', 1), played('b', 0), played('c', 0), played('c', 0)],
    'reward',
  );
  // Means 1, 0.5 and 0: Student's t of 2 degrees of freedom is 4.302653, the deviation 0.5.
  expect(point).toMatchObject({ step: 3, value: 0.5 });
  expect(point!.interval![0]).toBeCloseTo(0.5 - (4.302653 * 0.5) / Math.sqrt(3), 5);
  expect(groupPoint(3, [played('a', 1), played('b', 0)], 'success')!.interval).toEqual([0, 1]);
  expect(groupPoint(3, [played('a', 1)], 'reward')!.interval).toBeUndefined();
  expect(groupPoint(3, [], 'reward')).toBeUndefined();
});

it('a name that is no name but markup is shown as text', () => {
  const svg = trainingChart([
    {
      name: '</svg><script>alert(1)</script>',
      metric: 'success',
      rewardSource: 'code',
      training: [{ step: 0, value: 0.5, interval: undefined }],
      measured: [],
      failedMeasurements: 0,
    },
  ]);
  expect(svg).not.toContain('<script');
  expect(svg).toContain('&lt;script');
});

it('the legend says when its figure was had, and what is missing', () => {
  const at = (step: number, value: number) => ({ step, value, interval: undefined });
  const curve = { name: 'run', metric: 'success', rewardSource: 'code', training: [at(0, 0.2), at(19, 0.8)] } as const;
  const legendOf = (more: object): string | undefined =>
    /class="note">\s*(graded[^<]*)</.exec(
      trainingChart([{ ...curve, measured: [], failedMeasurements: 0, ...more }]),
    )?.[1];
  expect(legendOf({ measured: [at(0, 0.3)], failedMeasurements: 4 })).toMatch(
    /^graded by code, held out 30.% after 0 updates, 4 measurements failed$/,
  );
  expect(legendOf({})).toMatch(/^graded by code, 80.% after 19 updates$/);
});
