// When a challenger is worth changing to, on outcomes that are known.

import { expect, it } from 'vitest';
import { evaluationOf, tries, type Played, type Result } from './fixtures/evaluations.ts';
import { describeSwitching, switching } from './switching.ts';

const repeated = (result: Result, times: number): readonly Result[] => Array.from({ length: times }, () => result);

it('clears where the lower end of the interval is above the margin', () => {
  const incumbent = evaluationOf(tries(repeated(0, 100)));
  const challenger = evaluationOf(tries([...repeated(1, 60), ...repeated(0, 40)]));
  const low = switching({ incumbent, challenger }).comparison.interval[0];
  expect(low).toBeGreaterThan(0.4);
  expect(switching({ incumbent, challenger, margin: low - 0.01 }).clears).toBe(true);
  expect(switching({ incumbent, challenger, margin: low }).clears).toBe(false);
});

it('does not clear by three tasks, whose interval is narrower than what they show', () => {
  const all = (gained: readonly number[]): readonly Played[] =>
    gained.flatMap((count, task) =>
      Array.from({ length: 10 }, (_, seed) => ({ task: `t${task}`, seed, results: [seed < count ? 1 : 0] as const })),
    );
  const found = switching({ incumbent: evaluationOf(all([0, 0, 0])), challenger: evaluationOf(all([3, 5, 7])) });
  expect(found.comparison.interval[0]).toBeGreaterThan(0);
  expect(found.clears).toBe(false);
  expect(describeSwitching(found)).toMatch(/does not clear .*; it does not stand: chance alone /);
});

it('does not clear where invalid episodes could turn it round', () => {
  const incumbent = evaluationOf(tries([...repeated(0, 40), ...repeated('x', 60)]));
  const challenger = evaluationOf(tries([...repeated(1, 40), ...repeated(0, 60)]));
  const found = switching({ incumbent, challenger });
  expect(found.comparison.interval[0]).toBeGreaterThan(0);
  expect(found.clears).toBe(false);
});
