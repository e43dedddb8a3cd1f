// Keeps a policy near a reference by paying for the distance in its advantages (the k1 estimate "in the reward"):
// as a term of the loss its gradient would be zero in expectation.
// Source: tinker-cookbook, `kl_penalty_coef`; J. Schulman, "Approximating KL divergence" (2020), for k1.

import type { PolicyRow } from './rows.ts';

export type KlPenaltyOptions = {
  /** Strength per nat. */
  readonly beta: number;
  /** Per row, the reference's log-probability of each target; read only where the mask is 1. */
  readonly reference: readonly (readonly number[] | Float32Array)[];
};

/**
 * Adds `beta * (mean - d_t)` to each sampled token, `d_t = q_t - reference_t`. Centred on the batch mean, so that
 * the penalty moves probability around and does not push all of it down. `kl` is that mean, nats per token.
 */
export function applyKlPenalty(
  rows: readonly PolicyRow[],
  options: KlPenaltyOptions,
): { readonly rows: readonly PolicyRow[]; readonly kl: number } {
  const distance = (row: number, t: number): number => rows[row].logprobs[t] - options.reference[row][t];
  let sum = 0;
  let count = 0;
  rows.forEach((row, i) =>
    row.mask.forEach((sampled, t) => {
      if (sampled === 0) return;
      sum += distance(i, t);
      count++;
    }),
  );
  const kl = count === 0 ? 0 : sum / count;
  return {
    kl,
    rows: rows.map((row, i) => ({
      ...row,
      advantages: row.advantages.map((advantage, t) =>
        row.mask[t] === 0 ? advantage : advantage + options.beta * (kl - distance(i, t)),
      ),
    })),
  };
}
