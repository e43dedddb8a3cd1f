// Figures of a batch of episodes, named as tinker-cookbook names them. Invalid episodes are counted and enter no
// mean. Pure; times are the caller's.

import type { FinishedOutcome, Group, StopReason, Trajectory } from '../core/index.ts';
import { isMixed } from './advantages.ts';

const STOP_REASONS: readonly StopReason[] = ['submitted', 'answered', 'max_actions', 'malformed', 'token_budget'];

/** Counts, lengths, reward and exact success. Means over nothing are left out rather than invented. */
export function rolloutMetrics(trajectories: readonly Trajectory[]): Readonly<Record<string, number>> {
  const valid = trajectories.filter((trajectory) => trajectory.outcome.kind === 'finished');
  const outcomes = valid.map((trajectory) => trajectory.outcome as FinishedOutcome);
  const turns = valid.flatMap((trajectory) => trajectory.turns);
  const actionTokens = turns.reduce((sum, turn) => sum + turn.actionTokens.length, 0);
  const promptTokens = turns.reduce((sum, turn) => sum + turn.promptTokens.length, 0);
  const malformed = turns.filter((turn) => turn.action.kind === 'malformed').length;
  const metrics: Record<string, number> = {
    'env/all/total_episodes': valid.length,
    'env/all/invalid_episodes': trajectories.length - valid.length,
    'env/all/total_turns': turns.length,
    'env/all/total_ac_tokens': actionTokens,
    'env/all/total_ob_tokens': promptTokens,
  };
  if (valid.length > 0) {
    metrics['env/all/reward/total'] = outcomes.reduce((sum, { reward }) => sum + reward, 0) / valid.length;
    metrics['env/all/success'] = outcomes.filter(({ success }) => success).length / valid.length;
    metrics['env/all/turns_per_episode'] = turns.length / valid.length;
    for (const reason of STOP_REASONS) {
      metrics[`env/all/stop/${reason}`] = outcomes.filter(({ stop }) => stop === reason).length / valid.length;
    }
  }
  if (turns.length > 0) {
    metrics['env/all/ac_tokens_per_turn'] = actionTokens / turns.length;
    metrics['env/all/ob_tokens_per_turn'] = promptTokens / turns.length;
    metrics['env/all/malformed_per_turn'] = malformed / turns.length;
  }
  return metrics;
}

/**
 * Shares of groups that are mixed, by the rewards that are trained on, and of those that are all solved or not solved at
 * all, by their outcomes.
 */
export function groupMetrics(
  groups: readonly Group[],
  rewardsOf: (group: Group) => readonly (number | null)[],
): Readonly<Record<string, number>> {
  if (groups.length === 0) return {};
  const share = (test: (group: Group) => boolean): number => groups.filter(test).length / groups.length;
  const all = (group: Group, success: boolean): boolean =>
    group.trajectories.every(({ outcome }) => outcome.kind === 'invalid' || outcome.success === success) &&
    group.trajectories.some(({ outcome }) => outcome.kind === 'finished');
  return {
    'env/all/by_group/frac_mixed': share((group) => isMixed(rewardsOf(group))),
    'env/all/by_group/frac_all_good': share((group) => all(group, true)),
    'env/all/by_group/frac_all_bad': share((group) => all(group, false)),
  };
}
