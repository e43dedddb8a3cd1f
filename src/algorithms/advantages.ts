// Advantages of a group of attempts at one task: how much better each was than the group. No critic.
// Sources: GRPO (arXiv 2402.03300, section 4.1), Dr. GRPO (arXiv 2503.20783) for leaving the deviation out.

export type GroupAdvantageOptions = {
  /** `std` also divides by the group's unbiased deviation (n - 1) plus `epsilon`. Default `none`. */
  readonly normalise?: 'none' | 'std';
  /** Added to the deviation. Default 1e-4. */
  readonly epsilon?: number;
};

/**
 * `reward - mean` for every scored member; null stays null and takes no part in the mean. A group with fewer than
 * two scored members has no baseline, so its advantages are 0.
 */
export function groupAdvantages(
  rewards: readonly (number | null)[],
  options: GroupAdvantageOptions = {},
): readonly (number | null)[] {
  const { normalise = 'none', epsilon = 1e-4 } = options;
  const scored = rewards.filter((reward) => reward !== null);
  if (scored.length < 2) return rewards.map((reward) => (reward === null ? null : 0));
  const mean = scored.reduce((sum, reward) => sum + reward, 0) / scored.length;
  const squares = scored.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  const scale = normalise === 'std' ? 1 / (Math.sqrt(squares / (scored.length - 1)) + epsilon) : 1;
  return rewards.map((reward) => (reward === null ? null : (reward - mean) * scale));
}

/** Whether a group teaches anything: at least two scored members that did not all get the same. */
export function isMixed(rewards: readonly (number | null)[]): boolean {
  const scored = rewards.filter((reward) => reward !== null);
  return scored.some((reward) => reward !== scored[0]);
}
