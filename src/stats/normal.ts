// Quantiles of the standard normal distribution, to about six digits. Other distributions have their own files.

import { errorFunction, probit } from 'simple-statistics';

/**
 * z with P(Z <= z) = p. The library's `probit` is good to three digits only (1.957 for 0.975); three Newton steps on
 * its error function, which is good to 1.2e-7, bring that to six.
 */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`a normal quantile needs 0 < p < 1, got ${p}`);
  let z = probit(p);
  for (let i = 0; i < 3; i++) {
    const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
    z -= (0.5 + 0.5 * errorFunction(z / Math.SQRT2) - p) / density;
  }
  return z;
}
