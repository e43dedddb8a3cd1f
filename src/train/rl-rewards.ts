// The number that a group is compared by. Exact success by default: a reward that pays for partial credit teaches
// early submission. Invalid episodes have none; a success that only a limit ended is worth nothing. Pure.

import type { Group, StopReason } from '../core/index.ts';
import type { Rng } from '../util/index.ts';
import type { RlConfig } from './rl-config.ts';

/** Rewards by group and member; null where the episode is invalid or left out. */
export type GroupRewards = readonly (readonly (number | null)[])[]; // [group, member]

const OVERLONG: ReadonlySet<StopReason> = new Set(['max_actions', 'token_budget']);

export function groupRewards(
  groups: readonly Group[],
  { credit, overlong }: Pick<RlConfig, 'credit' | 'overlong'>,
): GroupRewards {
  return groups.map(({ trajectories }) =>
    trajectories.map(({ outcome }) => {
      if (outcome.kind === 'invalid') return null;
      if (overlong === 'leave_out' && OVERLONG.has(outcome.stop)) return null;
      return credit === 'raw' ? outcome.reward : Number(outcome.success);
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
