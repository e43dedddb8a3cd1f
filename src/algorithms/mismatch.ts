// How far the trainer's log-probabilities are from the sampler's on the same tokens, and what both say about
// entropy. On-policy with one numeric path the distance is rounding; anything more is a bug or staleness.
// Names and formulas as tinker-cookbook's `compute_kl_sample_train`.

import type { PolicyRow } from './rows.ts';

/**
 * Over all sampled tokens, q = sampler, lp = trainer:
 * `optim/kl_sample_train_v1` mean(q - lp), `v2` mean((q - lp)^2) / 2, `optim/logprob_diff_max` max |q - lp|,
 * `optim/entropy` -mean(q): an estimate of the mean entropy per sampled token, nats.
 */
export function mismatchMetrics(
  rows: readonly Pick<PolicyRow, 'logprobs' | 'mask'>[],
  trainer: readonly (readonly number[] | Float32Array)[],
): Readonly<Record<string, number>> {
  let [count, first, second, largest, entropy] = [0, 0, 0, 0, 0];
  rows.forEach((row, i) =>
    row.mask.forEach((sampled, t) => {
      if (sampled === 0) return;
      const difference = row.logprobs[t] - trainer[i][t];
      count++;
      first += difference;
      second += difference ** 2 / 2;
      largest = Math.max(largest, Math.abs(difference));
      entropy -= row.logprobs[t];
    }),
  );
  if (count === 0) return {};
  return {
    'optim/kl_sample_train_v1': first / count,
    'optim/kl_sample_train_v2': second / count,
    'optim/logprob_diff_max': largest,
    'optim/entropy': entropy / count,
  };
}
