// A sampler that says what it is told to: for tests of what stands around a model.

import type { SampleRequest, Sampler } from '../core/index.ts';

export type ScriptedSamplerOptions = {
  /** Tokens to answer with; the stop token included. May throw or wait to play a failing backend. */
  readonly answer: (
    request: SampleRequest,
    signal: AbortSignal | undefined,
  ) => readonly number[] | Promise<readonly number[]>;
  /** Default 0. */
  readonly version?: number;
};

/** Every token has log-probability 0; all samples of a request are the same. */
export function createScriptedSampler({ answer, version = 0 }: ScriptedSamplerOptions): Sampler {
  return {
    version,
    async sample(request, options = {}) {
      const tokens = await answer(request, options.signal);
      const stopped = request.params.stop?.includes(tokens.at(-1) ?? NaN) === true;
      const sequence = {
        tokens,
        logprobs: tokens.map(() => 0),
        stop: stopped ? ('stop' as const) : ('length' as const),
      };
      return Array.from({ length: request.numSamples }, () => sequence);
    },
    computeLogprobs: (tokens) => Promise.resolve(tokens.map((_, t) => (t === 0 ? NaN : 0))),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
