// Mean of a sample with Student's interval. For proportions use Wilson's, for paired comparisons the bootstrap.

import { mean as meanOf, sampleStandardDeviation } from 'simple-statistics';
import { checkAlpha, checkSample, type Interval } from './interval.ts';
import { studentTQuantile } from './student-t.ts';

export type MeanInterval = {
  readonly mean: number;
  readonly interval: Interval;
  readonly n: number;
};

/** `alpha` default 0.05. One value alone has no interval: both ends are then infinite. */
export function meanInterval(values: readonly number[], alpha = 0.05): MeanInterval {
  checkAlpha(alpha);
  checkSample(values);
  const n = values.length;
  const mean = meanOf([...values]);
  if (n === 1) return { mean, interval: [-Infinity, Infinity], n };
  const half = (studentTQuantile(1 - alpha / 2, n - 1) * sampleStandardDeviation([...values])) / Math.sqrt(n);
  return { mean, interval: [mean - half, mean + half], n };
}
