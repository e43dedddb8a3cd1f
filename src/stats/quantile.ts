// Sample quantiles with linear interpolation, as NumPy and R compute them by default (type 7 of Hyndman & Fan 1996).

import { checkSample } from './interval.ts';

/** Quantile `p` in [0, 1] of `values`, which need not be sorted. */
export function quantile(values: readonly number[], p: number): number {
  checkSample(values);
  if (!(p >= 0 && p <= 1)) throw new RangeError(`a quantile needs 0 <= p <= 1, got ${p}`);
  const sorted = Float64Array.from(values).sort();
  const position = p * (sorted.length - 1);
  const below = Math.floor(position);
  const low = sorted[below];
  const high = sorted[Math.min(below + 1, sorted.length - 1)];
  return low + (high - low) * (position - below);
}
