// Figures of judges against what they are in closed form.

import { expect, it } from 'vitest';
import { describeJudgeFigures, judgeFigures, type JudgedRow } from './judge-figures.ts';

const rows = (n: number, label: boolean, verdict: JudgedRow['verdict']): readonly JudgedRow[] =>
  Array.from({ length: n }, () => ({ label, verdict }));

/** Wilson (1927) by its formula, at 95 %. */
function wilson(k: number, n: number): readonly [number, number] {
  const z2 = 1.959963984540054 ** 2;
  const half = Math.sqrt(z2 * (z2 + (4 * k * (n - k)) / n));
  return [(2 * k + z2 - half) / (2 * (n + z2)), (2 * k + z2 + half) / (2 * (n + z2))];
}

it('counts, divides and gives Wilson’s intervals', () => {
  const figures = judgeFigures([
    ...rows(30, true, 'success'),
    ...rows(10, true, 'failure'),
    ...rows(5, false, 'success'),
    ...rows(45, false, 'failure'),
    ...rows(2, true, 'invalid'),
    ...rows(8, false, 'invalid'),
  ]);
  const expected = {
    precision: [30, 35],
    recall: [30, 40],
    falsePositiveRate: [5, 50],
    agreement: [75, 90],
    invalid: [10, 100],
    worstRecall: [30, 42],
    worstFalsePositiveRate: [13, 58],
  } as const;
  for (const [name, [k, n]] of Object.entries(expected)) {
    const rate = figures[name as keyof typeof expected];
    expect(rate).toMatchObject({ count: k, of: n });
    const [low, high] = wilson(k, n);
    expect([rate.value, rate.low, rate.high].map((x) => x?.toFixed(7))).toEqual(
      [k / n, low, high].map((x) => x.toFixed(7)),
    );
  }
  expect(figures).toMatchObject({ n: 100, invalidSuccesses: 2, invalidFailures: 8 });
  expect(describeJudgeFigures(figures)).toContain('precision                      85.7 % [70.6, 93.7]  (30 of 35)');
});

it('says nothing of what there is none of', () => {
  const { precision, recall, falsePositiveRate } = judgeFigures(rows(3, false, 'failure'));
  expect([precision, recall]).toEqual(Array(2).fill({ value: null, low: 0, high: 1, count: 0, of: 0 }));
  expect(falsePositiveRate.value).toBe(0);
});
