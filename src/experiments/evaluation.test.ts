import { describe, expect, it } from 'vitest';
import { evaluationOf, tries, type Result } from './fixtures/evaluations.ts';

const many = (n: number, result: Result): Result[] => Array.from({ length: n }, () => result);

describe('an evaluation', () => {
  it('has Wilson’s interval of single tries at instances of one task, and no other', () => {
    const { summary } = evaluationOf(tries([...many(42, 1), ...many(8, 0)]));
    expect(summary).toMatchObject({ episodes: 50, valid: 50, successes: 42, success: 0.84, clustered: null });
    expect(summary.wilson[0]).toBeCloseTo(0.7149, 4);
    expect(summary.wilson[1]).toBeCloseTo(0.9166, 4);
    expect(summary.bounds).toEqual([0.84, 0.84]);
  });

  it('counts invalid episodes by boundary, leaves them out of every mean, and bounds what they could have been', () => {
    const { summary, episodes } = evaluationOf(tries([1, 1, 0, 'x', 'x']));
    expect(summary).toMatchObject({
      episodes: 5,
      valid: 3,
      invalid: 2,
      success: 2 / 3,
      bounds: [2 / 5, 4 / 5],
      failures: { 'browser/browser-died': 2 },
      rewardMean: 1 / 3,
    });
    expect(episodes[3]).toMatchObject({ result: 'invalid', reward: null, failure: { boundary: 'browser' } });
  });

  it('has no figure where nothing came to an end', () => {
    const { summary } = evaluationOf(tries(['x', 'x']));
    expect(summary).toMatchObject({ valid: 0, success: null, rewardMean: null, wilson: [0, 1], bounds: [0, 1] });
  });

  it('takes tries at one instance together: ten tries of four instances that are all or nothing tell what four do', () => {
    const played = [1, 1, 0, 0].map((result, seed) => ({ seed, results: many(10, result as Result) }));
    const { summary } = evaluationOf(played);
    expect(summary.clustered).toMatchObject({ unit: 'instance', clusters: 4, method: 'cluster bootstrap' });
    const [low, high] = summary.clustered!.interval;
    // Of 4 draws with replacement, all alike has probability 1/16 on each side: the 95 % interval is all there is.
    expect([low, high]).toEqual([0, 1]);
    expect(summary.wilson[0]).toBeGreaterThan(0.35);
  });

  it('takes seeds of one task together where there are several tasks, and tasks of a group where there are groups', () => {
    const tasks = ['a', 'b', 'c', 'd'].flatMap((task, i) =>
      [0, 1, 2].map((seed) => ({ task, group: i < 2 ? 'one' : 'two', seed, results: [(i % 2) as Result] })),
    );
    expect(evaluationOf(tasks).summary.clustered).toMatchObject({ unit: 'group', clusters: 2 });
    const alone = tasks.map((played) => ({ ...played, group: played.task }));
    expect(evaluationOf(alone).summary.clustered).toMatchObject({ unit: 'task', clusters: 4 });
  });

  it('falls back to one trial a cluster where all clusters are alike: 0 of 5 tasks is not 0 of 50', () => {
    const tasks = ['a', 'b', 'c', 'd', 'e'].map((task) => ({ task, seed: 0, results: many(10, 0) }));
    const { clustered } = evaluationOf(tasks).summary;
    expect(clustered).toMatchObject({ clusters: 5, method: 'wilson over clusters' });
    expect(clustered!.interval[1]).toBeCloseTo(0.4345, 4); // Wilson, 0 of 5
  });

  it('estimates pass@k without bias, only up to the samples there are', () => {
    const { passAtK } = evaluationOf([
      { seed: 0, results: [1, 0, 0] },
      { seed: 1, results: [0, 0, 0] },
      { seed: 2, results: [1, 'x', 'x'] },
    ]).summary;
    // k = 1: means 1/3, 0, 1; k = 2: 1 - C(2,2)/C(3,2) = 2/3 and 0; k = 3: 1 and 0. The third instance has one sample left.
    expect(passAtK).toHaveLength(3);
    expect(passAtK[0]).toMatchObject({ k: 1, instances: 3, dropped: 0 });
    expect(passAtK.map(({ pass }) => pass)).toEqual([
      expect.closeTo(4 / 9, 12),
      expect.closeTo(1 / 3, 12),
      expect.closeTo(1 / 2, 12),
    ]);
    expect(passAtK[2]).toMatchObject({ instances: 2, dropped: 1 });
  });
});

describe('what an evaluation took', () => {
  const turn = (more: object) => ({
    reply: { text: 'x', calls: [] },
    stop: 'stop' as const,
    action: { kind: 'answer' as const, text: 'x' },
    page: '',
    nextPage: '',
    changed: false,
    info: {},
    ...more,
  });
  const usage = { promptTokens: 1_000, completionTokens: 100 };
  const playedWith = (turns: readonly object[], prices?: { prompt: number; completion: number }, details = {}) => {
    const task = { id: 'only/0', env: 'toy', instruction: 'x', seed: 0 };
    const outcome = { kind: 'finished', success: true, reward: 1, stop: 'answered', details } as const;
    return evaluationOf(tries([1]), {
      trajectories: [{ task, member: 0, turns: turns.map(turn), outcome, seconds: 1 }],
      judge: { id: 'j', kind: 'webjudge', model: 'm', promptHash: 'h' },
      ...(prices === undefined ? {} : { prices }),
    });
  };

  it('is what the endpoint charged', () => {
    const { summary } = playedWith([
      { usage, cost: 0.25 },
      { usage, cost: 0.5 },
    ]);
    expect(summary).toMatchObject({ promptTokens: 2_000, completionTokens: 200, cost: 0.75 });
  });

  it('is tokens at the prices that were given, where it does not say', () => {
    expect(playedWith([{ usage }], { prompt: 2, completion: 10 }).summary.cost).toBeCloseTo(0.003, 12);
  });

  it('is not known, rather than 0, where nobody has counted', () => {
    expect(playedWith([{ usage }]).summary).toMatchObject({ promptTokens: 1_000, cost: null });
    expect(playedWith([{ usage }, {}]).summary).toMatchObject({ promptTokens: null, cost: null });
  });

  it('adds what judging took, cost unknown as soon as one is', () => {
    const judge = { calls: 3, promptTokens: 50, completionTokens: 5, cost: 0.1 };
    expect(playedWith([], undefined, { judge }).judge).toMatchObject({ calls: 3, promptTokens: 50, cost: 0.1 });
    expect(playedWith([], undefined, { judge: { ...judge, cost: null } }).judge).toMatchObject({ cost: null });
  });
});
