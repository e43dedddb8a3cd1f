import { describe, expect, it } from 'vitest';
import { mismatchMetrics } from './mismatch.ts';

describe('mismatchMetrics', () => {
  it('compares sampled tokens only', () => {
    const metrics = mismatchMetrics([{ logprobs: [0, -1, -2], mask: [0, 1, 1] }], [[-99, -1.5, -1.75]]);
    expect(metrics).toEqual({
      'optim/kl_sample_train_v1': 0.125,
      'optim/kl_sample_train_v2': (0.25 + 0.0625) / 4,
      'optim/logprob_diff_max': 0.5,
      'optim/entropy': 1.5,
    });
  });

  it('says nothing about nothing', () => {
    expect(mismatchMetrics([], [])).toEqual({});
  });
});
