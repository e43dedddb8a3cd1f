// Simultaneous paired Hoeffding intervals: for several contrasts of arms scored on the same items, valid together at
// any sample size and for any distribution, and about twice as wide as a bootstrap. They speak of the sampling of
// items with fixed checkpoints, not of the variance between training seeds.
// Source: Hoeffding (1963), theorem 2, with Bonferroni's correction over the contrasts.

import { checkAlpha, checkSample, type Interval } from './interval.ts';

export type Contrast = {
  readonly id: string;
  /** Weight of each arm's mean in the contrast, e.g. `{ rl: 1, sft: -1 }`. */
  readonly weights: Readonly<Record<string, number>>;
  /** Least and greatest possible score of one item. Default [0, 1]. */
  readonly bounds?: Interval;
};

export type ContrastInterval = {
  readonly id: string;
  readonly mean: number;
  readonly halfWidth: number;
  /** mean +- halfWidth, cut off where the contrast cannot be. */
  readonly interval: Interval;
};

export type HalfWidthOptions = {
  /** Greatest minus least possible value of one item's contrast: 2 for the difference of two scores in [0, 1]. */
  readonly range: number;
  /** Number of items. */
  readonly n: number;
  /** Number of contrasts that hold together. Default 1. */
  readonly contrasts?: number;
  /** Default 0.05. */
  readonly alpha?: number;
};

export function hoeffdingHalfWidth({ range, n, contrasts = 1, alpha = 0.05 }: HalfWidthOptions): number {
  checkAlpha(alpha);
  return range * Math.sqrt(Math.log((2 * contrasts) / alpha) / (2 * n));
}

/** Intervals for all `contrasts`, covering all true values together with probability at least 1 - `alpha` (default 0.05). */
export function pairedHoeffding(
  scoresByArm: Readonly<Record<string, readonly number[]>>,
  contrasts: readonly Contrast[],
  alpha = 0.05,
): ContrastInterval[] {
  return contrasts.map(({ id, weights, bounds: [least, greatest] = [0, 1] }) => {
    const arms = Object.entries(weights).map(([arm, weight]) => ({ weight, scores: scoresOf(scoresByArm, arm) }));
    const n = arms[0]?.scores.length ?? 0;
    for (const { scores } of arms) {
      checkSample(scores);
      if (scores.length !== n) throw new RangeError(`contrast ${id}: arms have ${n} and ${scores.length} items`);
      const outside = scores.find((score) => score < least || score > greatest);
      if (outside !== undefined)
        throw new RangeError(`contrast ${id}: score ${outside} lies outside [${least}, ${greatest}]`);
    }
    const low = arms.reduce((sum, { weight }) => sum + weight * (weight > 0 ? least : greatest), 0);
    const high = arms.reduce((sum, { weight }) => sum + weight * (weight > 0 ? greatest : least), 0);
    const mean = arms.reduce((sum, { weight, scores }) => sum + (weight * scores.reduce((a, b) => a + b, 0)) / n, 0);
    const halfWidth = hoeffdingHalfWidth({ range: high - low, n, contrasts: contrasts.length, alpha });
    return { id, mean, halfWidth, interval: [Math.max(low, mean - halfWidth), Math.min(high, mean + halfWidth)] };
  });
}

function scoresOf(scoresByArm: Readonly<Record<string, readonly number[]>>, arm: string): readonly number[] {
  const scores = scoresByArm[arm];
  if (scores === undefined)
    throw new RangeError(`no scores for arm ${arm}; there are ${Object.keys(scoresByArm).join(', ')}`);
  return scores;
}
