// Samples from a tabular model with the contract of every sampler: seeded draws, log-probabilities untempered and
// untruncated, the stop token part of the result.

import type { CallOptions, Sampler, SampledSequence, SamplingParams } from '../core/index.ts';
import { createRng } from '../util/index.ts';
import type { Table, TabularModel } from './tabular-model.ts';

export type TabularSamplerOptions = {
  readonly model: TabularModel;
  /** Not changed and not to be changed. */
  readonly table: Table;
  readonly version: number;
};

export function createTabularSampler({ model, table, version }: TabularSamplerOptions): Sampler {
  const logProbabilities = model.freeze(table);
  const sampleOne = (prompt: readonly number[], params: SamplingParams, seed: number): SampledSequence => {
    const rng = createRng('tabular-sampler', seed);
    const tokens: number[] = [];
    const logprobs: number[] = [];
    while (tokens.length < params.maxTokens) {
      const distribution = logProbabilities(model.key([...prompt, ...tokens]));
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
      return tokens.map((token, t) => (t === 0 ? NaN : logProbabilities(model.key(tokens.slice(0, t)))[token]));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** The token at quantile `u` of the tempered and truncated distribution, most likely first; ties by lower id. */
function draw(logprobs: Float64Array, params: SamplingParams, u: number): number {
  const { temperature = 1, topP = 1, topK = -1 } = params;
  const ranked = [...logprobs.keys()].sort((a, b) => logprobs[b] - logprobs[a] || a - b);
  if (temperature === 0) return ranked[0];
  const tempered = ranked.map((token) => Math.exp((logprobs[token] - logprobs[ranked[0]]) / temperature));
  const whole = tempered.reduce((sum, p) => sum + p, 0);
  const kept = topK > 0 ? tempered.slice(0, topK) : tempered;
  let mass = 0;
  const nucleus = topP < 1 ? kept.findIndex((p) => (mass += p / whole) >= topP) + 1 : kept.length;
  if (nucleus > 0) kept.splice(nucleus);
  let rest = u * kept.reduce((sum, p) => sum + p, 0);
  const index = kept.findIndex((p) => (rest -= p) < 0);
  return ranked[index < 0 ? kept.length - 1 : index];
}
