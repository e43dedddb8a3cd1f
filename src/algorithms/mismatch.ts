// How far the trainer's log-probabilities are from the sampler's on the same tokens, and what both say about
// entropy. On-policy with one numeric path the distance is rounding; anything more is a bug or staleness.
// Names and formulas as tinker-cookbook's `compute_kl_sample_train`.

import type { PolicyRow } from './rows.ts';

/**
 * Over the sampled tokens, q = sampler, lp = trainer:
 * `optim/kl_sample_train_v1` mean(q - lp), `v2` mean((q - lp)^2) / 2, `optim/logprob_diff_max` max |q - lp|,
 * `optim/entropy` -mean(q): an estimate of the mean entropy per sampled token, nats.
 * A trainer may leave a token of advantage 0 unscored (NaN): it enters no difference, and `optim/unscored_tokens`
 * counts it. Any other NaN is a fault and stays one.
 */
export function mismatchMetrics(
  rows: readonly Pick<PolicyRow, 'logprobs' | 'advantages' | 'mask'>[],
  trainer: readonly (readonly number[] | Float32Array)[],
): Readonly<Record<string, number>> {
  let [scored, unscored, first, second, largest, entropy] = [0, 0, 0, 0, 0, 0];
  rows.forEach((row, i) =>
    row.mask.forEach((sampled, t) => {
      if (sampled === 0) return;
      entropy -= row.logprobs[t];
      if (row.advantages[t] === 0 && Number.isNaN(trainer[i][t])) {
        unscored++;
        return;
      }
      const difference = row.logprobs[t] - trainer[i][t];
      scored++;
      first += difference;
      second += difference ** 2 / 2;
      largest = Math.max(largest, Math.abs(difference));
    }),
  );
  if (scored + unscored === 0) return {};
  const differences = {
    'optim/kl_sample_train_v1': first / scored,
    'optim/kl_sample_train_v2': second / scored,
    'optim/logprob_diff_max': largest,
  };
  return {
    ...(scored === 0 ? {} : differences),
    ...(unscored === 0 ? {} : { 'optim/unscored_tokens': unscored }),
    'optim/entropy': entropy / (scored + unscored),
  };
}
