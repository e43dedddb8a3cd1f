// Intervals against published and closed-form values, their invariants, and their coverage by simulation.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRng } from '../util/index.ts';
import {
  hoeffdingHalfWidth,
  meanInterval,
  normalQuantile,
  pairedBootstrap,
  pairedHoeffding,
  quantile,
  studentTQuantile,
  wilsonInterval,
} from './index.ts';

describe('quantiles of distributions', () => {
  // Reference: tables of the normal and of Student's t distribution (Abramowitz & Stegun, 26).
  test.each([
    [0.975, 1.959964],
    [0.9, 1.281552],
    [0.995, 2.575829],
    [0.5, 0],
    [0.025, -1.959964],
  ])('normal %d is %d', (p, z) => expect(normalQuantile(p)).toBeCloseTo(z, 5));

  test.each([
    [0.975, 1, 12.7062],
    [0.975, 2, 4.30265],
    [0.975, 3, 3.18245],
    [0.975, 10, 2.22814],
    [0.995, 9, 3.24984],
    [0.025, 4, -2.77645],
    [0.975, 199, 1.97196],
  ])('Student %d with %d degrees of freedom is %d', (p, df, t) => expect(studentTQuantile(p, df)).toBeCloseTo(t, 4));
});

describe('wilsonInterval', () => {
  test.each([
    [8, 50, 0.0834, 0.2851],
    [21, 50, 0.2938, 0.5577],
    [42, 50, 0.7149, 0.9166],
  ])('of %d in %d is [%d, %d]', (k, n, low, high) => {
    expect(wilsonInterval(k, n)[0]).toBeCloseTo(low, 4);
    expect(wilsonInterval(k, n)[1]).toBeCloseTo(high, 4);
  });

  test('says nothing without trials', () => expect(wilsonInterval(0, 0)).toEqual([0, 1]));

  test('lies in [0, 1], holds the estimate, and mirrors', () => {
    const counts = fc
      .integer({ min: 1, max: 2000 })
      .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));
    fc.assert(
      fc.property(counts, ([k, n]) => {
        const [low, high] = wilsonInterval(k, n);
        const [mirrorLow, mirrorHigh] = wilsonInterval(n - k, n);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(k / n);
        expect(high).toBeGreaterThanOrEqual(k / n);
        expect(mirrorLow).toBeCloseTo(1 - high, 12);
        expect(mirrorHigh).toBeCloseTo(1 - low, 12);
      }),
    );
  });

  test('covers the truth in 93-98 % of 2,000 samples of 50 at p = 0.84', () => {
    const rng = createRng('wilson coverage');
    const covered = count(2000, () => {
      const k = count(50, () => rng.next() < 0.84);
      const [low, high] = wilsonInterval(k, 50);
      return low <= 0.84 && 0.84 <= high;
    });
    expect(covered / 2000).toBeGreaterThan(0.93);
    expect(covered / 2000).toBeLessThan(0.98);
  });

  test.each([
    [3, 2],
    [-1, 5],
    [1.5, 5],
  ])('refuses %d of %d', (k, n) => expect(() => wilsonInterval(k, n)).toThrow(RangeError));
});

describe('meanInterval', () => {
  test('of three seeds uses Student: 0.90 +- 4.303 * 0.01 / sqrt(3)', () => {
    const { mean, interval } = meanInterval([0.89, 0.9, 0.91]);
    expect(mean).toBeCloseTo(0.9, 12);
    expect(interval[1] - mean).toBeCloseTo((4.30265 * 0.01) / Math.sqrt(3), 6);
  });

  test('of one value is unbounded', () => expect(meanInterval([0.9]).interval).toEqual([-Infinity, Infinity]));

  test('refuses an empty sample and NaN', () => {
    expect(() => meanInterval([])).toThrow(/empty/);
    expect(() => meanInterval([1, NaN])).toThrow(/value 1/);
  });
});

describe('quantile', () => {
  test('interpolates as NumPy does', () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(quantile([4, 1, 3, 2], 0.9)).toBeCloseTo(3.7, 12);
    expect(quantile([7], 0.9)).toBe(7);
  });

  test('lies between the extremes and grows with p', () => {
    const samples = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(samples, fc.double({ min: 0, max: 1, noNaN: true }), (values, p) => {
        expect(quantile(values, p)).toBeGreaterThanOrEqual(Math.min(...values));
        expect(quantile(values, p)).toBeLessThanOrEqual(quantile(values, 1));
      }),
    );
  });
});

describe('pairedHoeffding', () => {
  test.each([
    [50, 1, 0.3841],
    [200, 1, 0.1921],
    [1319, 1, 0.0748],
    [1319, 2, 0.0815],
  ])('has half width for n = %d and %d contrasts of %d', (n, contrasts, half) =>
    expect(hoeffdingHalfWidth({ range: 2, n, contrasts })).toBeCloseTo(half, 4),
  );

  test.each([
    [0.1, 877],
    [0.05, 3506],
    [0.03, 9738],
  ])('reaches half width %d with two contrasts at n = %d and not before', (half, n) => {
    expect(hoeffdingHalfWidth({ range: 2, n, contrasts: 2 })).toBeLessThanOrEqual(half);
    expect(hoeffdingHalfWidth({ range: 2, n: n - 1, contrasts: 2 })).toBeGreaterThan(half);
  });

  test('takes the range from the weights: (1, -1) and (1, -1/2, -1/2) both span 2', () => {
    const scores = { a: [1, 1, 0, 1], b: [0, 0, 0, 1], c: [0, 1, 0, 0] };
    const [two, three] = pairedHoeffding(scores, [
      { id: 'two', weights: { a: 1, b: -1 } },
      { id: 'three', weights: { a: 1, b: -0.5, c: -0.5 } },
    ]);
    expect(two.mean).toBeCloseTo(0.5, 12);
    expect(three.mean).toBeCloseTo(0.5, 12);
    expect(two.halfWidth).toBeCloseTo(hoeffdingHalfWidth({ range: 2, n: 4, contrasts: 2 }), 12);
    expect(three.halfWidth).toBeCloseTo(two.halfWidth, 12);
    expect(two.interval).toEqual([0.5 - two.halfWidth, 1]); // Cut off at 1: no difference is greater.
  });

  test('covers two contrasts together in at least 95 % of 500 samples', () => {
    const rng = createRng('hoeffding coverage');
    const covered = count(500, () => {
      const draw = (p: number): number[] => Array.from({ length: 200 }, () => Number(rng.next() < p));
      const intervals = pairedHoeffding({ a: draw(0.4), b: draw(0.7), c: draw(0.9) }, [
        { id: 'b-a', weights: { b: 1, a: -1 } },
        { id: 'c-b', weights: { c: 1, b: -1 } },
      ]);
      const truth = [0.3, 0.2];
      return intervals.every(({ interval: [low, high] }, i) => low <= truth[i] && truth[i] <= high);
    });
    expect(covered / 500).toBeGreaterThanOrEqual(0.95);
  });

  test('refuses scores outside the bounds, unequal lengths and unknown arms', () => {
    const difference = [{ id: 'd', weights: { a: 1, b: -1 } }];
    expect(() => pairedHoeffding({ a: [2], b: [0] }, difference)).toThrow(/score 2/);
    expect(() => pairedHoeffding({ a: [1, 1], b: [0] }, difference)).toThrow(/2 and 1 items/);
    expect(() => pairedHoeffding({ a: [1] }, difference)).toThrow(/arm b/);
  });
});

describe('pairedBootstrap', () => {
  const differences = Array.from({ length: 200 }, (_, i) => (i < 60 ? 1 : i < 70 ? -1 : 0));

  test('is the same for the same seed and another for another', () => {
    expect(pairedBootstrap(differences, { seed: 1 })).toEqual(pairedBootstrap(differences, { seed: 1 }));
    const few = { resamples: 101 };
    const noisy = differences.map((d, i) => d + i / 1000);
    expect(pairedBootstrap(noisy, { seed: 1, ...few }).interval).not.toEqual(
      pairedBootstrap(noisy, { seed: 2, ...few }).interval,
    );
  });

  test('agrees with the normal approximation within 0.01 on 200 items', () => {
    const { mean, interval } = pairedBootstrap(differences, { seed: 1 });
    const half = 1.96 * Math.sqrt((70 / 200 - 0.25 ** 2) / 200);
    expect(mean).toBeCloseTo(0.25, 12);
    expect(Math.abs(interval[0] - (0.25 - half))).toBeLessThan(0.01);
    expect(Math.abs(interval[1] - (0.25 + half))).toBeLessThan(0.01);
  });

  test('says that it is degenerate when all differences are equal', () => {
    expect(pairedBootstrap([0.5, 0.5, 0.5], { seed: 1 })).toEqual({
      mean: 0.5,
      interval: [0.5, 0.5],
      degenerate: true,
    });
  });

  test('has its ends among the means that can be drawn', () => {
    const samples = fc.array(fc.integer({ min: -1, max: 1 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(samples, fc.integer(), (values, seed) => {
        const { interval, mean } = pairedBootstrap(values, { seed, resamples: 200 });
        expect(interval[0]).toBeGreaterThanOrEqual(Math.min(...values));
        expect(interval[1]).toBeLessThanOrEqual(Math.max(...values));
        expect(interval[0]).toBeLessThanOrEqual(mean + 1e-12);
        expect(interval[1]).toBeGreaterThanOrEqual(mean - 1e-12);
      }),
    );
  });

  test('covers the true difference in 93-97 % of 400 samples of 200 pairs', () => {
    const rng = createRng('bootstrap coverage');
    const covered = count(400, () => {
      // 30 % gained, 10 % lost, 60 % alike: the true difference is 0.2.
      const sample = Array.from({ length: 200 }, () => {
        const u = rng.next();
        return u < 0.3 ? 1 : u < 0.4 ? -1 : 0;
      });
      const [low, high] = pairedBootstrap(sample, { seed: 7, resamples: 400 }).interval;
      return low <= 0.2 && 0.2 <= high;
    });
    expect(covered / 400).toBeGreaterThan(0.93);
    expect(covered / 400).toBeLessThan(0.97);
  });
});

function count(times: number, event: () => boolean): number {
  return Array.from({ length: times }, event).filter(Boolean).length;
}
