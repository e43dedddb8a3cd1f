import { describe, expect, it } from 'vitest';
import { createRng } from '../util/index.ts';
import { clusterBootstrap, clusterStandardError } from './cluster-bootstrap.ts';
import { wilsonInterval } from './wilson.ts';

describe('clusterStandardError', () => {
  it('is s / sqrt(n) for clusters of one value', () => {
    // Values 0, 1, 1, 1: mean 3/4, s^2 = 4 * (3/16) / 3 = 1/4, standard error sqrt(1/4 / 4) = 1/4.
    expect(clusterStandardError([[0], [1], [1], [1]])).toBeCloseTo(0.25, 12);
  });

  it('treats k equal tries as one: repeating every value changes nothing', () => {
    const repeated = [0, 1, 1, 1].map((value) => [value, value, value]);
    expect(clusterStandardError(repeated)).toBeCloseTo(0.25, 12);
  });

  it('weights clusters by their size', () => {
    // Sums 2 of 2 and 0 of 1, mean 2/3; residuals 2 - 4/3 and 0 - 2/3: sqrt((4/9 + 4/9) * 2/1) / 3 = sqrt(16/9) / 3.
    expect(clusterStandardError([[1, 1], [0]])).toBeCloseTo(4 / 9, 12);
  });

  it('does not exist for one cluster', () => {
    expect(clusterStandardError([[0, 1, 1]])).toBeUndefined();
  });
});

describe('clusterBootstrap', () => {
  it('has the exact distribution of two clusters: both ends of what can be drawn', () => {
    // Drawn are AA, AB, BB with 1/4, 1/2, 1/4: both ends lie beyond 2.5 %.
    const { mean, interval } = clusterBootstrap(
      [
        [1, 1],
        [0, 0],
      ],
      { seed: 1 },
    );
    expect([mean, interval]).toEqual([0.5, [0, 1]]);
  });

  it('is as wide as the normal interval of its standard error where there are many clusters', () => {
    const rng = createRng('test', 1);
    const clusters = Array.from({ length: 400 }, () => {
      const p = rng.next();
      return Array.from({ length: 5 }, () => Number(rng.next() < p));
    });
    const { mean, interval } = clusterBootstrap(clusters, { seed: 2 });
    const half = 1.96 * clusterStandardError(clusters)!;
    expect(interval[0]).toBeCloseTo(mean - half, 2);
    expect(interval[1]).toBeCloseTo(mean + half, 2);
    // Taking the tries for independent would be a third too narrow here.
    const values = clusters.flat();
    const naive = wilsonInterval(values.filter((value) => value === 1).length, values.length);
    expect((interval[1] - interval[0]) / (naive[1] - naive[0])).toBeGreaterThan(1.3);
  });

  it('covers the true mean in 93 to 97 of 100 samples of 100 clusters', () => {
    const rng = createRng('coverage', 1);
    let covered = 0;
    for (let sample = 0; sample < 400; sample++) {
      const clusters = Array.from({ length: 100 }, () => {
        const p = rng.next() < 0.5 ? 0.9 : 0.3;
        return Array.from({ length: 3 }, () => Number(rng.next() < p));
      });
      const { interval } = clusterBootstrap(clusters, { seed: sample, resamples: 500 });
      if (interval[0] <= 0.6 && 0.6 <= interval[1]) covered++;
    }
    expect(covered / 400).toBeGreaterThan(0.92);
    expect(covered / 400).toBeLessThan(0.98);
  });

  it('says when it has no width, and is the same for the same seed', () => {
    expect(clusterBootstrap([[1, 1], [1]], { seed: 1 })).toMatchObject({ mean: 1, degenerate: true });
    const clusters = [[0, 1], [1], [0, 0, 1]];
    expect(clusterBootstrap(clusters, { seed: 3 })).toEqual(clusterBootstrap(clusters, { seed: 3 }));
  });
});
