// McNemar's test: do two policies, tried on the same items, differ in how often they succeed? Only the items on
// which exactly one of them succeeded count.
// Sources: McNemar (1947); Fagerland, Lydersen & Laake (2013) for the mid-p variant.

import { gammaln } from 'simple-statistics';

export type McNemarResult = {
  /** Two-sided exact binomial p-value. */
  readonly exactP: number;
  /** Two-sided mid-p value: less conservative, and the one to report. */
  readonly midP: number;
};

/** `onlyFirst` items succeeded with the first policy alone, `onlySecond` with the second alone. */
export function mcNemar(onlyFirst: number, onlySecond: number): McNemarResult {
  for (const count of [onlyFirst, onlySecond]) {
    if (!(Number.isInteger(count) && count >= 0)) throw new RangeError(`McNemar's test needs counts, got ${count}`);
  }
  const n = onlyFirst + onlySecond;
  if (n === 0) return { exactP: 1, midP: 1 };
  const fewer = Math.min(onlyFirst, onlySecond);
  let tail = 0;
  for (let i = 0; i <= fewer; i++) tail += fairBinomial(i, n);
  const atFewer = fairBinomial(fewer, n);
  const midP = onlyFirst === onlySecond ? 1 - atFewer / 2 : 2 * tail - atFewer;
  return { exactP: Math.min(1, 2 * tail), midP };
}

/** P(X = k) of n fair coins. In logarithms, so that thousands of items do not overflow. */
function fairBinomial(k: number, n: number): number {
  return Math.exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) - n * Math.LN2);
}
