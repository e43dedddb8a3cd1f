import { describe, expect, it } from 'vitest';
import { minimumDetectableDifference } from '../stats/index.ts';
import { compareEvaluations } from './comparison.ts';
import { evaluationOf, tries, type Result } from './fixtures/evaluations.ts';

/** Pairs by (a, b) and how many of each, one instance each. */
function sides(counts: readonly (readonly [Result, Result, number])[]) {
  const pairs = counts.flatMap(([a, b, n]) => Array.from({ length: n }, () => [a, b] as const));
  return { a: evaluationOf(tries(pairs.map(([a]) => a))), b: evaluationOf(tries(pairs.map(([, b]) => b))) };
}

describe('a comparison of single tries', () => {
  it('has McNemar’s exact test, the paired bootstrap and Connor’s detectable difference', () => {
    const comparison = compareEvaluations(
      sides([
        [0, 1, 10],
        [1, 0, 2],
        [1, 1, 20],
        [0, 0, 18],
      ]),
    );
    expect(comparison).toMatchObject({ pairs: 50, gained: 10, lost: 2, unit: 'instance', clusters: 50 });
    expect(comparison.difference).toBeCloseTo(8 / 50, 12);
    expect([comparison.successA, comparison.successB]).toEqual([22 / 50, 30 / 50]);
    expect(comparison.mcnemar!.exactP).toBeCloseTo(0.03857, 5);
    expect(comparison.mcnemar!.midP).toBeCloseTo(0.02246, 5);
    // Standard error by hand: sqrt((12/50 - (8/50)^2) / 50) = 0.0655.
    expect(comparison.interval[0]).toBeCloseTo(0.16 - 1.96 * 0.0655, 1);
    expect(comparison.interval[1]).toBeCloseTo(0.16 + 1.96 * 0.0655, 1);
    expect(comparison.detectable).toBe(minimumDetectableDifference({ n: 50, discordance: 12 / 50 }));
    expect(comparison).toMatchObject({ verdict: 'better', doubts: [] });
  });

  it('finds nothing where b and c are alike, and says why', () => {
    const comparison = compareEvaluations(
      sides([
        [0, 1, 5],
        [1, 0, 5],
        [1, 1, 10],
      ]),
    );
    expect(comparison.mcnemar!.exactP).toBe(1);
    expect(comparison.verdict).toBe('undecided');
    expect(comparison.doubts).toEqual([
      'the interval holds no difference as well',
      'chance alone gives one as large with p = 1.000',
    ]);
  });

  it('does not take a bootstrap without a width for certainty: six of six gained', () => {
    const comparison = compareEvaluations(sides([[0, 1, 6]]));
    expect(comparison.method).toBe('hoeffding');
    expect(comparison.mcnemar!.exactP).toBeCloseTo(0.03125, 10);
    expect(comparison.interval[0]).toBeCloseTo(1 - 2 * Math.sqrt(Math.log(40) / 12), 10);
  });

  it('sees a loss as one', () => {
    expect(compareEvaluations(sides([[1, 0, 30]])).verdict).toBe('worse');
  });

  it('has nothing to detect where the two are the same', () => {
    const { a } = sides([[1, 1, 10]]);
    expect(compareEvaluations({ a, b: a })).toMatchObject({ difference: 0, detectable: null, verdict: 'undecided' });
  });
});

it('leaves out instances that broke off or are missing, counts them by why, and bounds what they could do', () => {
  const a = evaluationOf(tries([1, 0, 'x', 1, 'x', 1, 0]));
  const b = evaluationOf(tries([1, 1, 1, 'x', 'x', 1]));
  const comparison = compareEvaluations({ a, b });
  expect(comparison.dropped).toEqual({ onlyInA: 1, onlyInB: 0, invalidInA: 1, invalidInB: 1, invalidInBoth: 1 });
  expect(comparison.pairs).toBe(3);
  expect(comparison.difference).toBeCloseTo(1 / 3, 12);
  // Of 6 shared: gained 1, and 3 instances that could be anything from -1 (or 0) to +1 (or 0).
  expect(comparison.bounds[0]).toBeCloseTo((0 + 1 + 0 - 1 - 1 + 0) / 6, 12);
  expect(comparison.bounds[1]).toBeCloseTo((0 + 1 + 1 + 0 + 1 + 0) / 6, 12);
});

it('does not let a difference stand that the invalid episodes could turn round', () => {
  const comparison = compareEvaluations(
    sides([
      [0, 1, 12],
      [1, 1, 10],
      [1, 'x', 13],
    ]),
  );
  expect(comparison.interval[0]).toBeGreaterThan(0);
  expect(comparison).toMatchObject({ verdict: 'undecided', doubts: ['the invalid episodes could turn it round'] });
});

describe('several tries or seeds of a task', () => {
  const tasks = (results: readonly (readonly Result[])[]) =>
    evaluationOf(results.map((own, i) => ({ task: `t${i}`, seed: 0, results: own })));

  it('are no more pairs than there are tasks: no McNemar, whole tasks change sides', () => {
    const a = tasks([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
      [1, 1, 1, 1],
    ]);
    const b = tasks([
      [1, 1, 1, 1],
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ]);
    const comparison = compareEvaluations({ a, b });
    expect(comparison).toMatchObject({ pairs: 3, clusters: 3, mcnemar: null, verdict: 'undecided' });
    // Two tasks that differ have four patterns of signs, two of them as extreme: p = 1/2.
    expect(comparison.signFlipP).toBeCloseTo(0.5, 1);
    // As many single tries, taken for independent, would have been significant.
    const single = compareEvaluations(
      sides([
        [0, 1, 8],
        [1, 1, 4],
      ]),
    );
    expect(single.mcnemar!.exactP).toBeLessThan(0.05);
  });
});

describe('the noise floor', () => {
  const { a, b } = sides([
    [0, 1, 12],
    [1, 0, 1],
    [1, 1, 20],
  ]);
  const again = (results: readonly Result[], seed: number, model = 'toy') =>
    evaluationOf(tries(results), { model, sampling: { seed, temperature: 1, samples: 1 } });
  const asPlayed = a.episodes.map(({ result }): Result => (result === 'success' ? 1 : 0));

  it('is how far the same policy differs from itself, and a difference has to exceed it', () => {
    const noisy = asPlayed.map((result, i): Result => (i < 12 ? 1 : result));
    const comparison = compareEvaluations({ a, b, noise: again(noisy, 2) });
    expect(comparison.noise).toMatchObject({ source: 'evaluation', floor: 12 / 33, flips: 12 / 33, pairs: 33 });
    expect(comparison.doubts).toEqual(['a policy played twice differs from itself as much']);
    expect(compareEvaluations({ a, b, noise: again(asPlayed, 2) })).toMatchObject({
      verdict: 'better',
      noise: { floor: 0, flips: 0 },
    });
  });

  it('comes from samples where an evaluation has them', () => {
    const twice = evaluationOf([0, 1, 2, 3].map((seed) => ({ seed, results: [1, seed === 0 ? 0 : 1] })));
    expect(compareEvaluations({ a: twice, b: twice }).noise).toMatchObject({ source: 'samples', floor: 1 / 4 });
  });

  it.each([
    ['of another policy', again(asPlayed, 2, 'other'), /neither/],
    [
      'at another temperature',
      { ...again(asPlayed, 2), sampling: { seed: 2, temperature: 0, samples: 1 } },
      /toy \(temperature 0\) is neither toy \(temperature 1\) nor/,
    ],
    ['by the same draws', again(asPlayed, 1), /another --seed/],
  ])('is refused %s', (_, noise, message) => {
    expect(() => compareEvaluations({ a, b, noise })).toThrow(message);
  });
});

describe('what does not compare', () => {
  const a = evaluationOf(tries([1, 0]));
  const environment = { name: 'toy', version: '1', split: 'test' as const, settings: {} };
  const judge = (promptHash: string) => ({ id: 'webjudge', kind: 'webjudge', model: 'm', promptHash });
  it.each([
    [
      'another environment',
      { environment: { ...environment, name: 'other' } },
      /environments differ, toy 1 and other 1/,
    ],
    ['another version', { environment: { ...environment, version: '2' } }, /environments differ, toy 1 and toy 2/],
    ['another judge of success', { reward: 'webjudge' }, /judges of success differ, code and webjudge/],
  ])('%s is refused', (_, more, message) => {
    expect(() => compareEvaluations({ a, b: evaluationOf(tries([1, 0]), more) })).toThrow(message);
  });

  it('other prompts of the same judge are refused', () => {
    const [one, other] = ['abc', 'def'].map((hash) => evaluationOf(tries([1]), { reward: 'j', judge: judge(hash) }));
    expect(() => compareEvaluations({ a: one, b: other })).toThrow(/prompts of the judge differ, abc and def/);
  });

  it('nothing in common is refused, with how much each has', () => {
    const b = evaluationOf([{ seed: 77, results: [1] }]);
    expect(() => compareEvaluations({ a, b })).toThrow(
      /share no instance, 2 are in the first alone and 1 in the second/,
    );
  });

  it('an episode that is there twice is refused', () => {
    const doubled = { ...a, episodes: [...a.episodes, a.episodes[0]] };
    expect(() => compareEvaluations({ a: doubled, b: a })).toThrow(/two episodes of only at seed 0/);
  });

  it('other limits of an episode are told', () => {
    const b = evaluationOf(tries([1, 0]), { environment: { ...environment, settings: { maxTurns: 3, pages: 8 } } });
    expect(compareEvaluations({ a, b }).otherSettings).toEqual(['maxTurns: null, 3']);
  });
});
