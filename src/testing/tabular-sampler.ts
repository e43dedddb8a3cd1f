// Samples from a tabular model with the contract of every sampler: seeded draws, log-probabilities untempered and
// untruncated, the stop token part of the result.

import type { CallOptions, Sampler, SampledSequence, SamplingParams } from '../core/index.ts';
import { createRng } from '../util/index.ts';
import { logSoftmax, type Table, type TabularModel } from './tabular-model.ts';

export type TabularSamplerOptions = {
  readonly model: TabularModel;
  /** Not changed and not to be changed. */
  readonly table: Table;
  readonly version: number;
};

export function createTabularSampler({ model, table, version }: TabularSamplerOptions): Sampler {
  const sampleOne = (prompt: readonly number[], params: SamplingParams, seed: number): SampledSequence => {
    const rng = createRng('tabular-sampler', seed);
    const tokens: number[] = [];
    const logprobs: number[] = [];
    while (tokens.length < params.maxTokens) {
      const distribution = model.logProbabilities(table, model.key([...prompt, ...tokens]));
      const token = draw(distribution, params, rng.next());
      tokens.push(token);
      logprobs.push(distribution[token]);
      if (params.stop?.includes(token) === true) return { tokens, logprobs, stop: 'stop' };
    }
    return { tokens, logprobs, stop: 'length' };
  };
  return {
    version,
    async sample({ prompt, numSamples, params }, options: CallOptions = {}) {
      options.signal?.throwIfAborted();
      return Array.from({ length: numSamples }, (_, i) => sampleOne(prompt, params, (params.seed ?? 0) + i));
    },
    async computeLogprobs(tokens, options: CallOptions = {}) {
      options.signal?.throwIfAborted();
      return tokens.map((token, t) =>
        t === 0 ? NaN : model.logProbabilities(table, model.key(tokens.slice(0, t)))[token],
      );
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** The token at quantile `u` of the tempered and truncated distribution; ties go to the lower id. */
function draw(logprobs: Float64Array, params: SamplingParams, u: number): number {
  const { temperature = 1, topP = 1, topK = -1 } = params;
  const ranked = [...logprobs.keys()].sort((a, b) => logprobs[b] - logprobs[a] || a - b);
  if (temperature === 0) return ranked[0];
  const tempered = logSoftmax(ranked.map((token) => logprobs[token] / temperature)).map(Math.exp);
  let kept = topK > 0 ? Math.min(topK, ranked.length) : ranked.length;
  if (topP < 1) {
    let mass = 0;
    for (let i = 0; i < kept; i++) {
      mass += tempered[i];
      if (mass >= topP) kept = i + 1;
    }
  }
  const total = tempered.slice(0, kept).reduce((sum, p) => sum + p, 0);
  let rest = u * total;
  for (let i = 0; i < kept; i++) {
    rest -= tempered[i];
    if (rest < 0) return ranked[i];
  }
  return ranked[kept - 1];
}
