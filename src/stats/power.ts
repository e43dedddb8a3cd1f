// What a paired comparison can see: the smallest difference in success that it detects with the wanted power.
// Source: Connor (1987), "Sample size for testing differences in proportions for the paired-sample design", solved
// for the difference.

import { checkAlpha } from './interval.ts';
import { normalQuantile } from './normal.ts';

export type MinimumDetectableOptions = {
  /** Items tried with both policies. */
  readonly n: number;
  /** Share of items on which exactly one of the two succeeds, in (0, 1]. */
  readonly discordance: number;
  /** Two-sided error rate of the test. Default 0.05. */
  readonly alpha?: number;
  /** Probability of detecting a difference of that size. Default 0.8. */
  readonly power?: number;
};

/** Smallest detectable difference of success rates; undefined when `n` items cannot show even the greatest, `discordance`. */
export function minimumDetectableDifference({
  n,
  discordance,
  alpha = 0.05,
  power = 0.8,
}: MinimumDetectableOptions): number | undefined {
  checkAlpha(alpha);
  if (!(discordance > 0 && discordance <= 1))
    throw new RangeError(`discordance must lie in (0, 1], got ${discordance}`);
  // d solves d sqrt(n) = zAlpha sqrt(discordance) + zPower sqrt(discordance - d^2), a quadratic in d.
  const zAlpha = normalQuantile(1 - alpha / 2);
  const zPower = normalQuantile(power);
  const rest = n + zPower ** 2 - zAlpha ** 2;
  if (rest < 0) return undefined;
  const difference = (Math.sqrt(discordance) * (zAlpha * Math.sqrt(n) + zPower * Math.sqrt(rest))) / (n + zPower ** 2);
  return difference <= discordance ? difference : undefined;
}
