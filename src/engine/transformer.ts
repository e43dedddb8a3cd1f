// The decoder-only transformer as a graph: RMSNorm, rotary positions, grouped-query attention, gated MLP, with
// optional adapters. How keys and values of earlier tokens are reached differs between training, prompt and
// decoding, so attention over them is a function argument.
// Letters: M = B T rows, D width, H query heads, K key/value heads, F head size, N rows that are scored.

import type { Dim, Graph, Value } from './graph.ts';
import type { LoraConfig, LoraPart } from './lora.ts';
import type { ModelConfig } from './model-config.ts';
import { add, concat, linear, matmul, mul, reshape, rmsNorm, rope, softmax, split, swiglu, transpose } from './ops.ts';

/** Adapters of a graph: which blocks, and how strong. */
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
};

/** The residual stream after the last layer, before the final norm: [M, D]. */
export function residualStream(g: Graph, { config, weight, lora, inputs, attend }: TransformerOptions): Value {
  const { heads, kvHeads, headDim, rmsNormEps } = config;
  const rows = inputs.embeddings.shape[0];
  const tables = { positions: inputs.positions, ...ropeTables(g, config) };
  const project = (x: Value, name: string, residual?: Value): Value => {
    const adapted = lora ? adapterDelta(g, { x, name, lora, weight, residual, rows }) : residual;
    return linear(g, x, weight(name), adapted);
  };

  let stream = inputs.embeddings;
  for (let layer = 0; layer < config.layers; layer++) {
    const normed = rmsNorm(g, stream, weight(`${layer}.attentionNorm`), rmsNormEps);
    const fused = project(normed, `${layer}.qkv`);
    const byHead = transpose(
      g,
      reshape(g, fused, [inputs.batch, inputs.time, heads + 2 * kvHeads, headDim]),
      [0, 2, 1, 3],
    );
    const [unrotated, v] = split(g, byHead, 1, [heads + kvHeads, kvHeads]) as [Value, Value];
    const [q, k] = split(g, rope(g, unrotated, tables), 1, [heads, kvHeads]) as [Value, Value];
    const context = transpose(g, attend(layer, q, k, v), [0, 2, 1, 3]);
    stream = project(reshape(g, context, [rows, heads * headDim]), `${layer}.output`, stream);
    const gated = swiglu(g, project(rmsNorm(g, stream, weight(`${layer}.mlpNorm`), rmsNormEps), `${layer}.gateUp`));
    stream = project(gated, `${layer}.down`, stream);
  }
  return stream;
}

/** Final norm and output head on selected rows: logits [N, V]. */
export function outputLogits(g: Graph, rows: Value, config: ModelConfig, weight: (name: string) => Value): Value {
  const normed = rmsNorm(g, rows, weight('norm'), config.rmsNormEps);
  return linear(g, normed, weight(config.tieEmbeddings ? 'embed' : 'head'));
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
    const scores = add(g, matmul(g, rows, k, { transB: true, scale: 1 / Math.sqrt(headDim) }), mask);
    return reshape(g, matmul(g, softmax(g, scores), v), [inputs.batch, heads, inputs.time, headDim]);
  };
}

type AdapterOptions = {
  readonly x: Value;
  readonly name: string;
  readonly lora: GraphLora;
  readonly weight: (name: string) => Value;
  readonly residual: Value | undefined;
  readonly rows: Dim;
};

/** What the adapters of one matrix add to its output, plus the residual; undefined where neither exists. */
function adapterDelta(g: Graph, { x, name, lora, weight, residual, rows }: AdapterOptions): Value | undefined {
  const parts = lora.parts.filter((part) => part.weight === name);
  if (parts.length === 0) return residual;
  const total = weight(name).shape[0] as number;
  const blocks: Value[] = [];
  let at = 0;
  const zeros = (size: number): void => {
    if (size > 0)
      blocks.push(
        g.node1('Expand', [g.scalar(0), g.runtimeShape([rows, size])], { type: 'float32', shape: [rows, size] }),
      );
  };
  for (const part of parts) {
    zeros(part.start - at);
    blocks.push(linear(g, linear(g, x, weight(part.a)), weight(part.b)));
    at = part.start + part.rows;
  }
  zeros(total - at);
  const joined = blocks.length === 1 ? blocks[0] : concat(g, blocks, 1, total);
  const scaled = mul(g, joined, g.scalar(lora.config.alpha / lora.config.rank));
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
