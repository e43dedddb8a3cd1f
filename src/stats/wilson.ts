// Wilson's score interval for one proportion: never outside [0, 1], and sensible at 0 and n successes.
// Source: Wilson (1927), "Probable inference, the law of succession, and statistical inference".

import { checkAlpha, type Interval } from './interval.ts';
import { normalQuantile } from './normal.ts';

/** Interval for the success probability after `successes` of `n` trials; [0, 1] when there are none. `alpha` default 0.05. */
export function wilsonInterval(successes: number, n: number, alpha = 0.05): Interval {
  checkAlpha(alpha);
  if (!(Number.isInteger(successes) && Number.isInteger(n) && successes >= 0 && successes <= n)) {
    throw new RangeError(`Wilson's interval needs whole numbers 0 <= successes <= n, got ${successes} of ${n}`);
  }
  if (n === 0) return [0, 1];
  const z = normalQuantile(1 - alpha / 2);
  const p = successes / n;
  const scale = 1 + (z * z) / n;
  const centre = (p + (z * z) / (2 * n)) / scale;
  const half = (z / scale) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  // At the ends the formula gives exactly 0 and 1 in real numbers; rounding must not push it past them.
  return [successes === 0 ? 0 : centre - half, successes === n ? 1 : centre + half];
}
