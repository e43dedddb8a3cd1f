import { describe, expect, it } from 'vitest';
import { mismatchMetrics } from './mismatch.ts';

describe('mismatchMetrics', () => {
  it('compares sampled tokens only', () => {
    const row = { logprobs: [0, -1, -2], advantages: [0, 1, 1], mask: [0, 1, 1] };
    const metrics = mismatchMetrics([row], [[-99, -1.5, -1.75]]);
    expect(metrics).toEqual({
      'optim/kl_sample_train_v1': 0.125,
      'optim/kl_sample_train_v2': (0.25 + 0.0625) / 4,
      'optim/logprob_diff_max': 0.5,
      'optim/entropy': 1.5,
    });
  });

  it('counts tokens of advantage 0 that the trainer did not score, and compares the others', () => {
    const row = { logprobs: [-1, -2, -3], advantages: [0.5, 0, 0], mask: [1, 1, 1] };
    expect(mismatchMetrics([row], [[-1.5, NaN, -2]])).toEqual({
      'optim/kl_sample_train_v1': -0.25,
      'optim/kl_sample_train_v2': (0.25 + 1) / 4,
      'optim/logprob_diff_max': 1,
      'optim/unscored_tokens': 1,
      'optim/entropy': 2,
    });
    expect(mismatchMetrics([row], [[NaN, -2, -3]])['optim/kl_sample_train_v1']).toBeNaN();
  });

  it('says nothing of the difference when no token was scored, and nothing at all about nothing', () => {
    const unscored = { logprobs: [-1], advantages: [0], mask: [1] };
    expect(mismatchMetrics([unscored], [[NaN]])).toEqual({ 'optim/unscored_tokens': 1, 'optim/entropy': 1 });
    expect(mismatchMetrics([], [])).toEqual({});
  });
});
