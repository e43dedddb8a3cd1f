// Sign-flip permutation test of a mean of paired differences: if the two policies were alike, each difference could
// as well have had the other sign.
// Source: Fisher's randomisation test; the +1 keeps the p-value valid (Phipson & Smyth 2010).

import { createRng } from '../util/index.ts';
import { checkSample } from './interval.ts';

export type SignFlipOptions = {
  /** Fixes the draws; record it beside the result. */
  readonly seed: number;
  /** Number of random sign patterns. Default 10,000. */
  readonly permutations?: number;
};

/** Two-sided p-value for "the mean of `differences` is zero", at least 1 / (permutations + 1). */
export function signFlipTest(differences: readonly number[], { seed, permutations = 10_000 }: SignFlipOptions): number {
  checkSample(differences);
  const rng = createRng('sign-flip', seed);
  const magnitudes = differences.map(Math.abs).filter((magnitude) => magnitude > 0);
  const total = magnitudes.reduce((a, b) => a + b, 0);
  // A pattern that equals the observed one in real numbers must count although its sum was rounded differently.
  const observed = Math.abs(differences.reduce((a, b) => a + b, 0)) - 1e-12 * total;
  let atLeast = 0;
  for (let p = 0; p < permutations; p++) {
    let sum = 0;
    for (const magnitude of magnitudes) sum += rng.next() < 0.5 ? magnitude : -magnitude;
    if (Math.abs(sum) >= observed) atLeast++;
  }
  return (1 + atLeast) / (permutations + 1);
}
