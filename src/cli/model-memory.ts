// How much memory a model takes on the embedded engine at most, by its shape: estimates for planning, with their assumptions
// named, not measurements. On SmolLM2-135M they are within a third of what a process takes (tests/models/memory.test.ts).

import { KEPT_PROMPT_FLOATS, type ModelConfig } from '../engine/index.ts';

/** Of the figures below. */
export const MEMORY_ASSUMPTIONS = {
  sequences: 8,
  sequenceTokens: 1024,
  trainingTokens: 2048,
  rank: 16,
} as const;

/** Onnxruntime, Node and buffers, about. */
const RUNTIME_BYTES = 300e6;
const FLOAT = 4;
/** The base, its copy in the graph of the decoding step, and the runtime's own, rearranged, while that graph is made. */
const COPIES_FOR_DECODING = 3;

export type MemoryEstimate = { readonly samplingBytes: number; readonly trainingBytes: number };

export function estimateMemory(config: ModelConfig, parameters: number): MemoryEstimate {
  const { layers, heads, kvHeads, headDim, hiddenSize: width, intermediateSize: inner } = config;
  const { sequences, sequenceTokens, trainingTokens, rank } = MEMORY_ASSUMPTIONS;
  const weights = parameters * FLOAT;
  const cache = 2 * layers * kvHeads * headDim * sequences * sequenceTokens * FLOAT;
  const [q, kv] = [heads * headDim, kvHeads * headDim];
  // Products are kept for the backward pass; attention and the head are computed again in blocks.
  const keptOfToken = layers * (2 * width + 2 * q + 2 * kv + 3 * inner);
  const ranks = layers * rank * (width + q + 2 * (width + kv) + q + width + 2 * (width + inner) + inner + width);
  const adapters = ranks * 4; // weights, gradients, two moments
  return {
    samplingBytes: COPIES_FOR_DECODING * weights + cache + Math.min(cache, KEPT_PROMPT_FLOATS * FLOAT) + RUNTIME_BYTES,
    trainingBytes: weights + (keptOfToken * trainingTokens + adapters) * FLOAT + RUNTIME_BYTES,
  };
}
