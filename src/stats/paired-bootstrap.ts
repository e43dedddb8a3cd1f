// Percentile bootstrap of a mean of paired differences: items are drawn with replacement, pairs stay together.
// Source: Efron & Tibshirani (1993), chapter 13.

import { createRng } from '../util/index.ts';
import { checkAlpha, checkSample, type Interval } from './interval.ts';

export type PairedBootstrapOptions = {
  /** Fixes the draws; record it beside the result. */
  readonly seed: number;
  /** Number of resamples. Default 10,000. */
  readonly resamples?: number;
  /** Default 0.05, for a 95 % interval. */
  readonly alpha?: number;
};

export type PairedBootstrapResult = {
  readonly mean: number;
  readonly interval: Interval;
  /** All differences were equal: the interval has no width and says nothing; use `pairedHoeffding` instead. */
  readonly degenerate: boolean;
};

/** Interval for the mean of `differences`, one per item. */
export function pairedBootstrap(
  differences: readonly number[],
  { seed, resamples = 10_000, alpha = 0.05 }: PairedBootstrapOptions,
): PairedBootstrapResult {
  checkAlpha(alpha);
  checkSample(differences);
  if (!(Number.isInteger(resamples) && resamples >= 1)) {
    throw new RangeError(`resamples must be a positive integer, got ${resamples}`);
  }
  const n = differences.length;
  const mean = differences.reduce((a, b) => a + b, 0) / n;
  if (differences.every((difference) => difference === differences[0])) {
    return { mean, interval: [mean, mean], degenerate: true };
  }
  const rng = createRng('paired-bootstrap', seed);
  const means = new Float64Array(resamples);
  for (let b = 0; b < resamples; b++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += differences[Math.floor(rng.next() * n)];
    means[b] = sum / n;
  }
  means.sort();
  const low = means[Math.floor((alpha / 2) * resamples)];
  const high = means[Math.ceil((1 - alpha / 2) * resamples) - 1];
  return { mean, interval: [low, high], degenerate: false };
}
