// What a batch of groups does to the weights, in exact comparisons: no training to convergence here.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Group, Outcome, Trainer, Trajectory } from '../core/index.ts';
import { runGroups } from '../rollout/index.ts';
import { createFakeTrainer, createToyCheckboxes, createToyRenderer, toyModel } from '../testing/index.ts';
import { createRng } from '../util/index.ts';
import { rlConfigSchema, type RlConfig } from './rl-config.ts';
import { groupRewards, shuffleRewards } from './rl-rewards.ts';
import { rlUpdate } from './rl-update.ts';

const signal = new AbortController().signal;
const config = (more: Partial<RlConfig> = {}): RlConfig => rlConfigSchema.parse({ gradClipNorm: 0, ...more });
const finished = (reward: number): Outcome => ({
  kind: 'finished',
  success: reward === 1,
  reward,
  stop: 'submitted',
  details: {},
});
const invalid: Outcome = { kind: 'invalid', boundary: 'browser', code: 'gone', message: '' };

describe('rlUpdate', () => {
  let groups: readonly Group[];
  beforeAll(async () => {
    const env = createToyCheckboxes();
    const sampler = await createFakeTrainer(toyModel()).saveWeightsAndGetSampler();
    const policy = { sampler, renderer: createToyRenderer() };
    const tasks = Array.from({ length: 8 }, (_, seed) => env.task(seed));
    ({ groups } = await runGroups(tasks, 6, { env, policy, sampling: {}, runSeed: 1, stage: 'rl', signal }));
  });

  async function update(of: readonly Group[], settings = config(), withReference = false) {
    const trainer = createFakeTrainer(toyModel());
    const reference = await trainer.saveWeightsAndGetSampler();
    const metrics = await rlUpdate({
      trainer,
      groups: of,
      config: settings,
      learningRate: 0.1,
      rng: createRng(1),
      signal,
      ...(withReference ? { reference } : {}),
    });
    return { metrics, weights: trainer.weights(), step: trainer.step };
  }

  it('measures no difference between sampler and trainer beyond rounding', async () => {
    const { metrics } = await update(groups);
    expect(metrics['optim/logprob_diff_max']).toBeLessThan(1e-6);
    expect(Math.abs(metrics['optim/kl_sample_train_v1'])).toBeLessThan(1e-7);
    expect(metrics['optim/entropy']).toBeGreaterThan(0.3);
  });

  it('gives finite metrics when a trainer leaves tokens of advantage 0 unscored', async () => {
    const trainer = createFakeTrainer(toyModel());
    const unscoring: Trainer = {
      ...trainer,
      async forwardBackward(data, loss, lossConfig, call) {
        const { logprobs, metrics } = await trainer.forwardBackward(data, loss, lossConfig, call);
        const advantages = data.map(({ lossInputs }) => lossInputs.advantages!);
        return { logprobs: logprobs.map((row, i) => row.map((lp, t) => (advantages[i][t] === 0 ? NaN : lp))), metrics };
      },
    };
    const rewards = [1, 0, -1];
    const three = { ...groups[0], trajectories: groups[0].trajectories.slice(0, 3) };
    const middle: Group = {
      ...three,
      trajectories: three.trajectories.map((t, i) => ({ ...t, outcome: finished(rewards[i]) })),
    };
    const metrics = await rlUpdate({
      trainer: unscoring,
      groups: [middle],
      config: config({ credit: 'raw' }),
      learningRate: 0.1,
      rng: createRng(1),
      signal,
    });
    expect(Object.entries(metrics).filter(([, value]) => !Number.isFinite(value))).toEqual([]);
    const actions = three.trajectories[1].turns.flatMap(({ actionTokens }) => actionTokens);
    expect(metrics['optim/unscored_tokens']).toBe(actions.length);
    expect(metrics['optim/logprob_diff_max']).toBeLessThan(1e-6);
  });

  it('does not see invalid members: weights are those of a batch without them', async () => {
    const drop = (trajectory: Trajectory): boolean => (trajectory.task.seed + trajectory.member) % 3 === 0;
    const without = groups.map((group) => ({ ...group, trajectories: group.trajectories.filter((t) => !drop(t)) }));
    const marked = groups.map((group) => ({
      ...group,
      trajectories: group.trajectories.map((t) => (drop(t) ? { ...t, outcome: invalid } : t)),
    }));
    expect((await update(marked)).weights).toEqual((await update(without)).weights);
  });

  it('takes no step at all when no group is mixed', async () => {
    const solved = groups.map((group) => ({
      ...group,
      trajectories: group.trajectories.filter(({ outcome }) => outcome.kind === 'finished' && outcome.success),
    }));
    const { step, weights, metrics } = await update(solved);
    expect([step, weights.size, metrics['optim/updates']]).toEqual([0, 0, 0]);
  });

  it('leaves constant groups out: adding one changes no weight', async () => {
    const mixed = groups.filter((group) => new Set(groupRewards([group], config())[0]).size > 1);
    const constant = { ...groups[0], trajectories: [groups[0].trajectories[0], groups[0].trajectories[0]] };
    expect((await update([...mixed, constant])).weights).toEqual((await update(mixed)).weights);
  });

  it('on-policy, one update is the same under every policy loss', async () => {
    const reference = (await update(groups)).weights;
    for (const loss of ['ppo', 'cispo'] as const) {
      const { weights } = await update(groups, config({ loss }));
      for (const [key, row] of reference) {
        weights.get(key)!.forEach((w, i) => expect(Math.abs(w - row[i])).toBeLessThan(1e-5));
      }
    }
  });

  it('a KL penalty to the policy itself is 0 and changes nothing', async () => {
    const { metrics, weights } = await update(groups, config({ beta: 1 }), true);
    expect(metrics['kl_policy_base']).toBeCloseTo(0, 12);
    expect(weights).toEqual((await update(groups)).weights);
  });

  it('does not train without the penalty that was asked for', async () => {
    await expect(update(groups, config({ beta: 1 }))).rejects.toMatchObject({
      boundary: 'config',
      code: 'no-reference',
    });
  });

  it('says how well prompts extend each other: one row per trajectory with history, one per turn without', async () => {
    const { metrics } = await update(groups);
    const turns = groups.flatMap(({ trajectories }) => trajectories).reduce((sum, t) => sum + t.turns.length, 0);
    expect(metrics['datums_per_trajectory']).toBeGreaterThan(1);
    expect(metrics['datums_per_trajectory']).toBeLessThan(turns);

    const env = createToyCheckboxes();
    const sampler = await createFakeTrainer(toyModel()).saveWeightsAndGetSampler();
    const policy = { sampler, renderer: createToyRenderer({ keepHistory: true }) };
    const tasks = Array.from({ length: 8 }, (_, seed) => env.task(seed));
    const extended = await runGroups(tasks, 6, { env, policy, sampling: {}, runSeed: 1, stage: 'rl', signal });
    expect((await update(extended.groups)).metrics['datums_per_trajectory']).toBe(1);
  });
});

describe('groupRewards', () => {
  const task = { id: 'toy/1', env: 'toy', instruction: '', seed: 1 };
  const group = (...outcomes: readonly Outcome[]): Group => ({
    task,
    trajectories: outcomes.map((outcome, member): Trajectory => ({ task, member, turns: [], outcome, seconds: 1 })),
  });
  const limited: Outcome = {
    kind: 'finished',
    success: false,
    reward: 0,
    stop: 'token_budget',
    clamped: true,
    details: {},
  };

  it('what a limit ended is worth nothing, whatever is paid for', () => {
    const one = [group(finished(1), limited, invalid)];
    expect(groupRewards(one, config())).toEqual([[1, 0, null]]);
    expect(groupRewards(one, config({ credit: 'raw' }))).toEqual([[1, 0, null]]);
  });

  it('episodes that ran out of tokens or turns can be left out like invalid ones, malformed ones cannot', () => {
    const stopped = (stop: 'max_actions' | 'malformed'): Outcome => ({ ...limited, stop });
    const one = [group(finished(1), limited, stopped('max_actions'), stopped('malformed'))];
    expect(groupRewards(one, config({ overlong: 'leave_out' }))).toEqual([[1, null, null, 0]]);
  });
});

describe('shuffleRewards', () => {
  it('hands the same rewards to others and leaves invalid members without one', () => {
    const rewards = [
      [1, 0, null, 1],
      [null, 0, 0, 1],
    ];
    const shuffled = shuffleRewards(rewards, createRng(3));
    expect(
      shuffled
        .flat()
        .filter((r) => r !== null)
        .sort(),
    ).toEqual([0, 0, 0, 1, 1, 1]);
    expect(shuffled.map((group) => group.map((r) => r === null))).toEqual(
      rewards.map((group) => group.map((r) => r === null)),
    );
    expect(shuffled).not.toEqual(rewards);
  });
});
