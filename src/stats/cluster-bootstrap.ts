// Percentile bootstrap of a mean over values that come in clusters, such as several tries at one task: whole clusters are
// drawn, so values of one cluster may depend on each other in any way. With one value a cluster it is the ordinary one.
// Source: Davison & Hinkley (1997), section 3.8; the mean is a ratio, so clusters may differ in size.

import { createRng } from '../util/index.ts';
import { checkAlpha, checkSample, type Interval } from './interval.ts';

export type ClusterBootstrapOptions = {
  /** Fixes the draws; record it beside the result. */
  readonly seed: number;
  /** Default 10,000. */
  readonly resamples?: number;
  /** Default 0.05, for a 95 % interval. */
  readonly alpha?: number;
};

export type ClusterBootstrapResult = {
  readonly mean: number;
  readonly interval: Interval;
  /** All clusters have the same mean: the interval has no width and says nothing. */
  readonly degenerate: boolean;
};

/** Interval for the mean of all values; `clusters` that are empty count as absent. */
export function clusterBootstrap(
  clusters: readonly (readonly number[])[],
  { seed, resamples = 10_000, alpha = 0.05 }: ClusterBootstrapOptions,
): ClusterBootstrapResult {
  checkAlpha(alpha);
  checkSample(clusters.flat());
  if (!(Number.isInteger(resamples) && resamples >= 1)) {
    throw new RangeError(`resamples must be a positive integer, got ${resamples}`);
  }
  const parts = sumsOf(clusters);
  const mean = ratio(parts);
  if (parts.every(({ sum, n }) => sum * parts[0].n === parts[0].sum * n)) {
    return { mean, interval: [mean, mean], degenerate: true };
  }
  const rng = createRng('cluster-bootstrap', seed);
  const means = new Float64Array(resamples);
  for (let b = 0; b < resamples; b++) {
    let sum = 0;
    let n = 0;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[Math.floor(rng.next() * parts.length)];
      sum += part.sum;
      n += part.n;
    }
    means[b] = sum / n;
  }
  means.sort();
  const low = means[Math.floor((alpha / 2) * resamples)];
  const high = means[Math.ceil((1 - alpha / 2) * resamples) - 1];
  return { mean, interval: [low, high], degenerate: false };
}

/**
 * Standard error of the mean of all values by the same reasoning, in closed form (linearised ratio, one degree of freedom
 * taken for the mean); undefined with fewer than two clusters.
 */
export function clusterStandardError(clusters: readonly (readonly number[])[]): number | undefined {
  checkSample(clusters.flat());
  const parts = sumsOf(clusters);
  const m = parts.length;
  if (m < 2) return undefined;
  const mean = ratio(parts);
  const total = parts.reduce((all, { n }) => all + n, 0);
  const squares = parts.reduce((all, { sum, n }) => all + (sum - mean * n) ** 2, 0);
  return Math.sqrt((squares * m) / (m - 1)) / total;
}

type Part = { readonly sum: number; readonly n: number };

function sumsOf(clusters: readonly (readonly number[])[]): readonly Part[] {
  return clusters
    .filter((values) => values.length > 0)
    .map((values) => ({ sum: values.reduce((a, b) => a + b, 0), n: values.length }));
}

function ratio(parts: readonly Part[]): number {
  return parts.reduce((all, { sum }) => all + sum, 0) / parts.reduce((all, { n }) => all + n, 0);
}
