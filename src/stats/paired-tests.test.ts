// Paired tests, pass@k and power against closed-form values, exhaustive enumeration and simulation.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRng } from '../util/index.ts';
import { mcNemar, minimumDetectableDifference, passAtK, signFlipTest } from './index.ts';

describe('mcNemar', () => {
  test.each([
    [10, 2, 0.03857, 0.02246],
    [6, 0, 0.03125, 0.015625],
    [5, 5, 1, 1 - 252 / 1024 / 2],
    [0, 0, 1, 1],
  ])('of %d against %d has exact p %d and mid-p %d', (b, c, exact, mid) => {
    expect(mcNemar(b, c).exactP).toBeCloseTo(exact, 5);
    expect(mcNemar(b, c).midP).toBeCloseTo(mid, 5);
  });

  test('is symmetric, lies in (0, 1], and mid-p is the smaller', () => {
    const counts = fc.integer({ min: 0, max: 3000 });
    fc.assert(
      fc.property(counts, counts, (b, c) => {
        const result = mcNemar(b, c);
        expect(mcNemar(c, b)).toEqual(result);
        expect(result.exactP).toBeGreaterThanOrEqual(0);
        expect(result.exactP).toBeLessThanOrEqual(1);
        expect(result.midP).toBeLessThanOrEqual(result.exactP + 1e-12);
      }),
    );
  });

  test('rejects a true hypothesis in at most 6 % of 3,000 samples by mid-p, and in at most 5 % exactly', () => {
    const rng = createRng('mcnemar size');
    let [mid, exact] = [0, 0];
    for (let s = 0; s < 3000; s++) {
      const b = Array.from({ length: 40 }, () => rng.next() < 0.5).filter(Boolean).length;
      const result = mcNemar(b, 40 - b);
      if (result.midP < 0.05) mid++;
      if (result.exactP < 0.05) exact++;
    }
    expect(mid / 3000).toBeLessThan(0.06);
    expect(exact / 3000).toBeLessThan(0.05);
  });
});

describe('signFlipTest', () => {
  test('agrees with all 2^6 sign patterns: six gains and no loss have p = 2/64', () => {
    const p = signFlipTest([1, 1, 1, 1, 1, 1], { seed: 1, permutations: 20_000 });
    expect(Math.abs(p - 2 / 64)).toBeLessThan(0.005);
  });

  test('counts patterns that equal the observed one up to rounding', () => {
    // Every pattern of equal signs reaches the observed |sum|: p = 2/8 although 0.1 + 0.2 + 0.3 depends on the order.
    const p = signFlipTest([0.3, 0.1, 0.2], { seed: 1, permutations: 20_000 });
    expect(Math.abs(p - 2 / 8)).toBeLessThan(0.01);
  });

  test('finds nothing where nothing differs', () => expect(signFlipTest([0, 0, 0], { seed: 1 })).toBe(1));

  test('agrees with the exact McNemar test on binary data', () => {
    const differences = [...Array<number>(10).fill(1), ...Array<number>(2).fill(-1), ...Array<number>(30).fill(0)];
    const p = signFlipTest(differences, { seed: 3, permutations: 50_000 });
    expect(Math.abs(p - mcNemar(10, 2).exactP)).toBeLessThan(0.004);
  });
});

describe('passAtK', () => {
  test.each([
    [10, 3, 1, 0.3],
    [10, 3, 5, 1 - 21 / 252],
    [4, 0, 2, 0],
    [4, 3, 2, 1],
    [200, 1, 100, 0.5],
  ])('of n = %d, %d successes, k = %d is %d', (n, c, k, expected) =>
    expect(passAtK(n, c, k)).toBeCloseTo(expected, 12),
  );

  test('equals the share of k-subsets that hold a success', () => {
    const attempts = fc.array(fc.boolean(), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(
        attempts.chain((a) => fc.tuple(fc.constant(a), fc.integer({ min: 1, max: a.length }))),
        ([outcomes, k]) => {
          let [subsets, good] = [0, 0];
          for (let mask = 0; mask < 2 ** outcomes.length; mask++) {
            const members = outcomes.filter((_, i) => (mask >> i) & 1);
            if (members.length !== k) continue;
            subsets++;
            if (members.some(Boolean)) good++;
          }
          expect(passAtK(outcomes.length, outcomes.filter(Boolean).length, k)).toBeCloseTo(good / subsets, 10);
        },
      ),
    );
  });

  test('refuses more draws than attempts', () => expect(() => passAtK(3, 1, 4)).toThrow(RangeError));
});

describe('minimumDetectableDifference', () => {
  test("solves Connor's equation", () => {
    const [n, discordance] = [200, 0.3];
    const d = minimumDetectableDifference({ n, discordance })!;
    expect(d * Math.sqrt(n)).toBeCloseTo(
      1.959964 * Math.sqrt(discordance) + 0.841621 * Math.sqrt(discordance - d * d),
      5,
    );
  });

  test('is found by the mid-p test in 75-87 % of 1,500 simulated comparisons', () => {
    const [n, discordance] = [200, 0.3];
    const d = minimumDetectableDifference({ n, discordance })!;
    const rng = createRng('power');
    let found = 0;
    for (let s = 0; s < 1500; s++) {
      let [gained, lost] = [0, 0];
      for (let i = 0; i < n; i++) {
        const u = rng.next();
        if (u < (discordance + d) / 2) gained++;
        else if (u < discordance) lost++;
      }
      if (mcNemar(gained, lost).midP < 0.05) found++;
    }
    expect(found / 1500).toBeGreaterThan(0.75);
    expect(found / 1500).toBeLessThan(0.87);
  });

  test('does not exist when even all discordant items would not suffice', () => {
    expect(minimumDetectableDifference({ n: 10, discordance: 0.1 })).toBeUndefined();
  });
});
