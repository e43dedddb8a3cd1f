// From token ids to the first vectors of the residual stream: a table look-up and, where the model has it, a depthwise
// causal convolution over the looked-up vectors (So et al. 2021, section 3.2, there on queries, keys and values).

import type { Dim, Graph, Value } from './graph.ts';
import type { ModelConfig } from './model-config.ts';
import { add, embedding, mul, reshape, shiftTime, split } from './ops.ts';

export type EmbeddingOptions = {
  readonly config: ModelConfig;
  readonly weight: (name: string) => Value;
};

/** Embeddings of whole sequences, ids [M] with M = batch x time: [M, D]. */
export function sequenceEmbeddings(
  g: Graph,
  { config, weight }: EmbeddingOptions,
  ids: Value,
  { batch, time }: { readonly batch: Dim; readonly time: Dim },
): Value {
  const rows = ids.shape[0];
  const plain = scaled(g, config, embedding(g, weight('embed'), ids, rows));
  if (config.taps === 1) return plain;
  const byTime = reshape(g, plain, [batch, time, config.hiddenSize]);
  const taps = splitTaps(g, config, weight);
  const sum = taps.map((tap, distance) => mul(g, shiftTime(g, byTime, distance), tap)).reduce((a, b) => add(g, a, b));
  return reshape(g, sum, [rows, config.hiddenSize]);
}

/**
 * Embeddings of one new token a sequence, [B, D]. `earlier[i]` holds the ids i + 1 places before, -1 where the
 * sequence had not begun.
 */
export function stepEmbeddings(
  g: Graph,
  { config, weight }: EmbeddingOptions,
  ids: Value,
  earlier: readonly Value[],
): Value {
  const rows = ids.shape[0];
  const plain = scaled(g, config, embedding(g, weight('embed'), ids, rows));
  if (config.taps === 1) return plain;
  const [first, ...others] = splitTaps(g, config, weight);
  const zero = g.scalar(0);
  const column = g.constant('int64', [1], [1]);
  return others.reduce(
    (sum, tap, i) => {
      const before = earlier[i];
      const began = g.node1('GreaterOrEqual', [before, g.constant('int64', [], [0])], { type: 'bool', shape: [rows] });
      const mask = g.node1('Unsqueeze', [began, column], { type: 'bool', shape: [rows, 1] });
      // Looking up -1 reads the last row, which the mask then hides.
      const looked = scaled(g, config, embedding(g, weight('embed'), before, rows));
      return add(g, sum, mul(g, g.node1('Where', [mask, looked, zero], { type: 'float32', shape: looked.shape }), tap));
    },
    mul(g, plain, first),
  );
}

function scaled(g: Graph, { embeddingScale }: ModelConfig, vectors: Value): Value {
  return embeddingScale === undefined ? vectors : mul(g, vectors, g.scalar(embeddingScale));
}

function splitTaps(g: Graph, { taps, hiddenSize }: ModelConfig, weight: (name: string) => Value): Value[] {
  const rows = split(g, weight('taps'), 0, new Array<number>(taps).fill(1));
  return rows.map((row) => reshape(g, row, [hiddenSize]));
}
