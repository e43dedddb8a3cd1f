import { describe, expect, it } from 'vitest';
import type { Group, Outcome, Trajectory } from '../core/index.ts';
import { groupMetrics, rolloutMetrics } from './rollout-metrics.ts';

const task = { id: 'toy/1', env: 'toy', instruction: '', seed: 1 };
const finished = (success: boolean, reward: number): Outcome => ({
  kind: 'finished',
  success,
  reward,
  stop: 'submitted',
  details: {},
});
const invalid: Outcome = { kind: 'invalid', boundary: 'browser', code: 'gone', message: '' };
const episode = (outcome: Outcome): Trajectory => ({ task, member: 0, turns: [], outcome, seconds: 1 });

describe('rolloutMetrics', () => {
  it('averages over valid episodes and shows both counts', () => {
    const metrics = rolloutMetrics([finished(true, 1), finished(false, -0.5), invalid].map(episode));
    expect(metrics).toMatchObject({
      'env/all/total_episodes': 2,
      'env/all/invalid_episodes': 1,
      'env/all/reward/total': 0.25,
      'env/all/success': 0.5,
      'env/all/stop/submitted': 1,
      'env/all/stop/token_budget': 0,
    });
    const limited: Outcome = { kind: 'finished', success: false, reward: 0, stop: 'token_budget', details: {} };
    expect(rolloutMetrics([finished(true, 1), limited].map(episode))).toMatchObject({
      'env/all/stop/token_budget': 0.5,
    });
  });

  it('has no mean where nothing is valid', () => {
    expect(rolloutMetrics([episode(invalid)])).not.toHaveProperty('env/all/success');
  });
});

describe('groupMetrics', () => {
  it('splits groups into mixed, all good and all bad', () => {
    const groups = [
      [finished(true, 1), finished(false, 0)],
      [finished(true, 1), invalid],
      [finished(false, 0), finished(false, 0)],
      [invalid, invalid],
    ].map((outcomes) => ({ task, trajectories: outcomes.map(episode) }));
    const rewardsOf = (group: Group) =>
      group.trajectories.map(({ outcome }) => (outcome.kind === 'invalid' ? null : outcome.reward));
    expect(groupMetrics(groups, rewardsOf)).toEqual({
      'env/all/by_group/frac_mixed': 0.25,
      'env/all/by_group/frac_all_good': 0.25,
      'env/all/by_group/frac_all_bad': 0.25,
    });
  });
});
