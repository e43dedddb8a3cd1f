// The decoder-only transformer as a graph: RMSNorm, rotary positions, grouped-query attention, gated MLP, with
// optional adapters. How keys and values of earlier tokens are reached differs between training, prompt and
// decoding, so attention over them is a function argument.
// Letters: M = B T rows, D width, H query heads, K key/value heads, F head size, N rows that are scored.

import { attention } from './attention.ts';
import type { Dim, Graph, Value } from './graph.ts';
import type { LoraConfig, LoraPart } from './lora.ts';
import type { ModelConfig } from './model-config.ts';
import { add, gatherRows, linear, mul, reshape, rmsNorm, rope, swiglu, transpose } from './ops.ts';

/** Adapters of a graph: of which matrices, and how strong. */
export type GraphLora = { readonly parts: readonly LoraPart[]; readonly config: LoraConfig };

export type TransformerInputs = {
  /** First vectors of the stream [M, D]; see `embeddings.ts`. */
  readonly embeddings: Value;
  /** Rotary position ids: [1] as an offset, or [B, T]. */
  readonly positions: Value;
  readonly batch: Dim;
  readonly time: Dim;
};

/** Attention of q[B, H, T, F] over k, v[B, K, T, F] and whatever came before: [B, H, T, F]. */
export type Attend = (layer: number, q: Value, k: Value, v: Value) => Value;

export type TransformerOptions = {
  readonly config: ModelConfig;
  readonly weight: (name: string) => Value;
  readonly lora?: GraphLora;
  readonly inputs: TransformerInputs;
  readonly attend: Attend;
  /** Rows [N] whose last vectors are wanted, each once if they are differentiated. Default all. */
  readonly index?: Value;
};

/**
 * The residual stream after the last layer, before the final norm, at the wanted rows: [N, D]. What follows the last
 * attention is computed for those alone.
 */
export function residualStream(g: Graph, options: TransformerOptions): Value {
  const { config, weight, lora, inputs, attend, index } = options;
  const { heads, kvHeads, headDim, rmsNormEps } = config;
  const rows = inputs.embeddings.shape[0];
  const tables = { positions: inputs.positions, ...ropeTables(g, config) };
  // One product per matrix: a fused one would have to be cut up again, and its gradient glued together.
  const project = (x: Value, names: readonly string[], residual?: Value): Value[] =>
    linear(
      g,
      x,
      names.map((name) => weight(name)),
      names.map((name) => (lora ? adapterDelta(g, { x, name, lora, weight, residual }) : residual)),
    );
  const byHead = (x: Value, count: number): Value =>
    transpose(g, reshape(g, x, [inputs.batch, inputs.time, count, headDim]), [0, 2, 1, 3]);

  let stream = inputs.embeddings;
  for (let layer = 0; layer < config.layers; layer++) {
    const normed = rmsNorm(g, stream, weight(`${layer}.attentionNorm`), rmsNormEps);
    const [q, k, v] = project(normed, [`${layer}.q`, `${layer}.k`, `${layer}.v`]);
    const query = rope(g, byHead(q, heads), tables);
    const key = rope(g, byHead(k, kvHeads), tables);
    const context = transpose(g, attend(layer, query, key, byHead(v, kvHeads)), [0, 2, 1, 3]);
    let attended = reshape(g, context, [rows, heads * headDim]);
    if (index && layer === config.layers - 1) {
      attended = gatherRows(g, attended, index);
      stream = gatherRows(g, stream, index);
    }
    [stream] = project(attended, [`${layer}.output`], stream);
    const unit = rmsNorm(g, stream, weight(`${layer}.mlpNorm`), rmsNormEps);
    const [gate, up] = project(unit, [`${layer}.gate`, `${layer}.up`]);
    [stream] = project(swiglu(g, gate, up), [`${layer}.down`], stream);
  }
  return stream;
}

/** Final norm and output head on selected rows: logits [N, V]. */
export function outputLogits(
  g: Graph,
  rows: Value,
  { config, weight, lora }: Pick<TransformerOptions, 'config' | 'weight' | 'lora'>,
): Value {
  const normed = rmsNorm(g, rows, weight('norm'), config.rmsNormEps);
  if (config.tieEmbeddings) return linear(g, normed, [weight('embed')])[0];
  const delta = lora && adapterDelta(g, { x: normed, name: 'head', lora, weight, residual: undefined });
  return linear(g, normed, [weight('head')], [delta])[0];
}

/**
 * Causal attention within the sequences of a batch. Query heads of one group are folded into rows, so keys and
 * values are never repeated. `mask` is [H / K * T, T], 0 where a key is seen and very negative where it is not.
 */
export function causalAttention(
  g: Graph,
  config: ModelConfig,
  inputs: Pick<TransformerInputs, 'batch' | 'time'>,
  mask: Value,
): Attend {
  const { heads, kvHeads, headDim } = config;
  const folded = mask.shape[0];
  return (_layer, q, k, v) => {
    const rows = reshape(g, q, [inputs.batch, kvHeads, folded, headDim]);
    const context = attention(g, { q: rows, k, v, mask, scale: 1 / Math.sqrt(headDim) });
    return reshape(g, context, [inputs.batch, heads, inputs.time, headDim]);
  };
}

type AdapterOptions = {
  readonly x: Value;
  readonly name: string;
  readonly lora: GraphLora;
  readonly weight: (name: string) => Value;
  readonly residual: Value | undefined;
};

/** What the adapter of one matrix adds to its output, plus the residual; undefined where neither exists. */
function adapterDelta(g: Graph, { x, name, lora, weight, residual }: AdapterOptions): Value | undefined {
  const part = lora.parts.find((candidate) => candidate.weight === name);
  if (!part) return residual;
  const [low] = linear(g, x, [weight(part.a)]);
  const [delta] = linear(g, low, [weight(part.b)]);
  const scaled = mul(g, delta, g.scalar(lora.config.alpha / lora.config.rank));
  return residual ? add(g, residual, scaled) : scaled;
}

/** Cosines and sines of position times frequency, [positions, F / 2] each (Su et al. 2021, equation 15). */
function ropeTables(g: Graph, { maxPositions, headDim, ropeTheta }: ModelConfig): { cos: Value; sin: Value } {
  const half = headDim / 2;
  const cos = new Float32Array(maxPositions * half);
  const sin = new Float32Array(maxPositions * half);
  for (let position = 0; position < maxPositions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position / ropeTheta ** (i / half);
      cos[position * half + i] = Math.cos(angle);
      sin[position * half + i] = Math.sin(angle);
    }
  }
  return { cos: g.table('rope.cos', [maxPositions, half], cos), sin: g.table('rope.sin', [maxPositions, half], sin) };
}
