// When a challenger is worth changing to, on outcomes that are known.

import { describe, expect, it } from 'vitest';
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

describe('the same policy played again', () => {
  const again = { sampling: { seed: 2, temperature: 1, samples: 1 } };
  const incumbent = evaluationOf(tries([...repeated(1, 50), ...repeated(0, 50)]));
  const challenger = evaluationOf(tries([...repeated(1, 80), ...repeated(0, 20)]), { model: 'other' });

  it('raises the margin to what it differs from itself, however small the one that was asked for', () => {
    const low = switching({ incumbent, challenger }).comparison.interval[0];
    expect(low).toBeGreaterThan(0.15);
    // 50 and 60 of the same hundred: it differs from itself by 0.1. 50 and 75: by 0.25, more than the interval clears.
    const calm = evaluationOf(tries([...repeated(1, 60), ...repeated(0, 40)]), again);
    const wild = evaluationOf(tries([...repeated(1, 75), ...repeated(0, 25)]), again);
    const quiet = switching({ incumbent, challenger, repeated: calm });
    expect([quiet.noiseFloor, quiet.margin, quiet.clears]).toEqual([expect.closeTo(0.1), expect.closeTo(0.1), true]);
    const loud = switching({ incumbent, challenger, repeated: wild, margin: 0.05 });
    expect([loud.noiseFloor, loud.margin, loud.clears]).toEqual([expect.closeTo(0.25), expect.closeTo(0.25), false]);
    expect(loud.comparison.verdict).toBe('better'); // the difference stands, and is not worth it
    expect(describeSwitching(loud)).toMatch(/does not clear .*needed above \+25\.0\Wpts; noise floor \+25\.0/);
    expect(switching({ incumbent, challenger, repeated: calm, margin: 0.15 }).margin).toBe(0.15);
    expect(switching({ incumbent, challenger }).noiseFloor).toBeNull();
  });

  it('is measured as well by several tries at each instance: the greatest difference between two of them', () => {
    const thrice = Array.from({ length: 100 }, (_, seed) => {
      const results: readonly Result[] = [seed < 50 ? 1 : 0, seed < 55 ? 1 : 0, seed < 62 ? 1 : 0];
      return { seed, results };
    });
    const found = switching({ incumbent: evaluationOf(thrice), challenger });
    expect(found.noiseFloor).toBeCloseTo(0.12);
    expect(found.margin).toBeCloseTo(0.12);
  });

  it('is of the policy in use or its challenger, drawn otherwise', () => {
    const stranger = evaluationOf(tries(repeated(1, 100)), { model: 'stranger', ...again });
    expect(() => switching({ incumbent, challenger, repeated: stranger })).toThrow(/is neither toy/);
    expect(() => switching({ incumbent, challenger, repeated: incumbent })).toThrow(/another --seed/);
  });
});
