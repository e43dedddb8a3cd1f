// Which of a policy's own episodes, and which of their actions, are worth imitating. Filters drop rows and never
// rewrite what later rows saw. Knows no environment: what an action did is read off the page before and after.

import type { Datum, Trajectory, Turn } from '../core/index.ts';
import { isPrefix } from './rows.ts';

/** `exact`: solved. `lenient`: raw reward above 0, which accepts puzzles that are one box short; here for comparison. */
export type EpisodeFilter = 'exact' | 'lenient' | 'none';

export type Demonstration = {
  readonly prompt: readonly number[];
  readonly action: readonly number[];
  /** What the rows are balanced by, e.g. the number of wanted boxes. */
  readonly balanceKey: string;
};

export type DemonstrationOptions = {
  /** Default `exact`. */
  readonly filter?: EpisodeFilter;
  /** Class of an episode for balancing. Default: all the same. */
  readonly balanceKey?: (trajectory: Trajectory) => string;
};

/** One row per action worth imitating, without duplicates (same prompt, same action), in the order of episodes. */
export function demonstrations(
  trajectories: readonly Trajectory[],
  options: DemonstrationOptions = {},
): readonly Demonstration[] {
  const { filter = 'exact', balanceKey = () => '' } = options;
  const seen = new Set<string>();
  const rows: Demonstration[] = [];
  for (const trajectory of trajectories) {
    if (!accepts(trajectory, filter)) continue;
    for (const { promptTokens, actionTokens } of worthImitating(trajectory)) {
      const key = `${promptTokens.join(' ')}|${actionTokens.join(' ')}`;
      if (seen.has(key)) continue;
      seen.add(key);
      rows.push({ prompt: promptTokens, action: actionTokens, balanceKey: balanceKey(trajectory) });
    }
  }
  return rows;
}

export function accepts({ outcome }: Trajectory, filter: EpisodeFilter): boolean {
  if (outcome.kind === 'invalid') return false;
  switch (filter) {
    case 'exact':
      return outcome.success;
    case 'lenient':
      return outcome.reward > 0;
    case 'none':
      return true;
  }
  return filter satisfies never;
}

/**
 * The turns without malformed calls, without actions that did nothing, and without pairs that undo each other. An answer
 * ended the episode, so it did something.
 */
export function worthImitating(trajectory: Trajectory): readonly Turn[] {
  const { turns } = trajectory;
  const undone = undonePairs(turns);
  return turns.filter((turn, i) => {
    if (turn.action.kind === 'malformed' || turn.stop === 'length' || undone.has(i)) return false;
    // The action that ended the episode did something even where the page shows nothing of it.
    return turn.changed || (i === turns.length - 1 && endedByAgent(trajectory));
  });
}

/**
 * Rows as cross-entropy data: one datum for as long as each prompt extends the row before, so that what turns of one
 * episode share is read once. Each class gets the same total weight, as far as `maxWeight` allows, and weights
 * average 1 over the rows: rare classes count more, and the easy ones (nothing wanted: submit at once) do not
 * teach their shortcut to the rest.
 */
export function demonstrationData(rows: readonly Demonstration[], maxWeight = 4): readonly Datum[] {
  const counts = new Map<string, number>();
  for (const { balanceKey } of rows) counts.set(balanceKey, (counts.get(balanceKey) ?? 0) + 1);
  const share = rows.length / Math.max(1, counts.size);
  const weightOf = (row: Demonstration): number => Math.min(maxWeight, share / counts.get(row.balanceKey)!);
  const mean = rows.reduce((sum, row) => sum + weightOf(row), 0) / Math.max(1, rows.length);
  const sequences: { tokens: readonly number[]; weights: readonly number[] }[] = [];
  for (const row of rows) {
    const weight = weightOf(row) / mean;
    const last = sequences.at(-1);
    const before = last !== undefined && isPrefix(last.tokens, row.prompt) ? last : undefined;
    const unweighted = row.prompt.slice(before?.tokens.length ?? 0);
    const tokens = [...row.prompt, ...row.action];
    const weights = [...(before?.weights ?? []), ...unweighted.map(() => 0), ...row.action.map(() => weight)];
    if (before === undefined) sequences.push({ tokens, weights });
    else sequences[sequences.length - 1] = { tokens, weights };
  }
  return sequences.map(({ tokens, weights }) => ({
    tokens: tokens.slice(0, -1),
    lossInputs: { targetTokens: tokens.slice(1), weights: weights.slice(1) },
  }));
}

function endedByAgent({ outcome }: Trajectory): boolean {
  return outcome.kind === 'finished' && outcome.stop !== 'max_actions';
}

/**
 * Indices of actions that were taken back: the same call again, whose second use puts back exactly the lines of
 * the page that the first one changed. Works on any page; a repeated "next" is no pair, its changes do not cancel.
 */
function undonePairs(turns: readonly Turn[]): ReadonlySet<number> {
  const undone = new Set<number>();
  const changes = turns.map((turn) => lineChanges(turn.page, turn.nextPage));
  for (let later = 1; later < turns.length; later++) {
    for (let earlier = later - 1; earlier >= 0; earlier--) {
      if (undone.has(earlier) || !sameCall(turns[earlier], turns[later])) continue;
      const [first, second] = [changes[earlier], changes[later]];
      if (first.removed === '' && first.added === '') continue;
      if (first.removed !== second.added || first.added !== second.removed) continue;
      undone.add(earlier).add(later);
      break;
    }
  }
  return undone;
}

function sameCall(a: Turn, b: Turn): boolean {
  return a.action.kind === 'call' && b.action.kind === 'call' && JSON.stringify(a.action) === JSON.stringify(b.action);
}

function lineChanges(before: string, after: string): { removed: string; added: string } {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const missingFrom = (lines: string[], others: string[]): string =>
    lines
      .filter((line) => !others.includes(line))
      .sort()
      .join('\n');
  return { removed: missingFrom(old, now), added: missingFrom(now, old) };
}
