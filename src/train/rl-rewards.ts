// The number that a group is compared by. Exact success by default: a reward that pays for partial credit teaches
// early submission. Invalid episodes have none. Pure.

import type { Group } from '../core/index.ts';
import type { Rng } from '../util/index.ts';

export type RewardKind = 'exact' | 'raw';

/** Rewards by group and member; null where the episode is invalid. */
export type GroupRewards = readonly (readonly (number | null)[])[]; // [group, member]

export function groupRewards(groups: readonly Group[], kind: RewardKind): GroupRewards {
  return groups.map(({ trajectories }) =>
    trajectories.map(({ outcome }) => {
      if (outcome.kind === 'invalid') return null;
      return kind === 'exact' ? Number(outcome.success) : outcome.reward;
    }),
  );
}

/**
 * The negative control: the same rewards, handed to other episodes of the batch at random. A loop that still
 * learns from these learns from something else than the reward. Nulls stay where they are.
 */
export function shuffleRewards(rewards: GroupRewards, rng: Rng): GroupRewards {
  const shuffled = rng.shuffle(rewards.flat().filter((reward) => reward !== null));
  return rewards.map((group) => group.map((reward) => (reward === null ? null : shuffled.pop()!)));
}
