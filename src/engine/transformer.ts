// The decoder-only transformer as a graph: RMSNorm, rotary positions, grouped-query attention, gated MLP, with
// optional adapters. How keys and values of earlier tokens are reached differs between training, prompt and
// decoding, so attention over them is a function argument.
// Letters: M = B T rows, D width, H query heads, K key/value heads, F head size, N rows that are scored.

import { attention } from './attention.ts';
import type { Dim, Graph, Value } from './graph.ts';
import type { LoraConfig, LoraPart } from './lora.ts';
import { foldedLinear, lowRank } from './low-rank.ts';
import { isSliding, type ModelConfig } from './model-config.ts';
import { add, gatherRows, geglu, linear, reshape, rmsNorm, rope, softcap, swiglu, transpose } from './ops.ts';
import { ropeAngles } from './rope-tables.ts';

/** Adapters of a graph: of which matrices, and how strong. */
export type GraphLora = {
  readonly parts: readonly LoraPart[];
  readonly config: LoraConfig;
  /** Made one with their matrices at each run: for many rows. Default false: beside them. */
  readonly folded?: boolean;
};

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
  const { config, inputs, index } = options;
  const tables = storedTables(g, config);
  let stream = inputs.embeddings;
  for (let layer = 0; layer < config.layers; layer++) {
    const wanted = layer === config.layers - 1 ? index : undefined;
    stream = decoderLayer(g, { ...options, layer, index: wanted, tables: tables(layer) }, stream);
  }
  return stream;
}

export type LayerOptions = Omit<TransformerOptions, 'inputs' | 'index'> & {
  readonly layer: number;
  readonly inputs: Omit<TransformerInputs, 'embeddings'>;
  readonly tables: { readonly cos: Value; readonly sin: Value };
  /** Rows that are wanted after the layer's attention. */
  readonly index?: Value | undefined;
  /**
   * Asked for each value that is dear to compute: what it gives is used instead. How a layer is computed again from what
   * was kept of it. Default the value itself.
   */
  readonly keep?: (name: KeptValue, value: Value) => Value;
};

/**
 * The products and the attention of a layer: everything that is dear. What a block gives is dear only where it is normed
 * before it is added.
 */
export type KeptValue = 'q' | 'k' | 'v' | 'context' | 'attention' | 'middle' | 'gate' | 'up' | 'mlp';

/** Those of a model. */
export function keptValues({ sandwichNorms }: ModelConfig): KeptValue[] {
  return ['q', 'k', 'v', 'context', 'middle', 'gate', 'up', ...(sandwichNorms ? (['attention', 'mlp'] as const) : [])];
}

/** One layer on the residual stream [M, D]: the stream after it, at the wanted rows. */
export function decoderLayer(g: Graph, options: LayerOptions, before: Value): Value {
  const { config, weight, lora, inputs, attend, index, layer, keep = (_name, value) => value } = options;
  const { heads, kvHeads, headDim } = config;
  const rows = before.shape[0];
  const tables = { positions: inputs.positions, ...options.tables };
  // One product per matrix: a fused one would have to be cut up again, and its gradient glued together.
  const project = (x: Value, names: readonly string[], biased?: boolean, residual?: Value): Value[] => {
    const outputs = adaptedLinear(g, { x, names, lora, weight, residual });
    return biased ? outputs.map((y, i) => add(g, y, weight(`${names[i]}Bias`))) : outputs;
  };
  const norm = (x: Value, name: string): Value => weightedNorm(g, x, weight(name), config);
  const byHead = (x: Value, count: number, normName?: string): Value => {
    const split = reshape(g, x, [inputs.batch, inputs.time, count, headDim]);
    return transpose(g, normName && config.qkNorm ? norm(split, normName) : split, [0, 2, 1, 3]);
  };
  /** What a block computes from x, added to the stream: normed before where the model does so. */
  const addBlock = (stream: Value, x: Value, block: 'attention' | 'mlp'): Value => {
    const [name, after] = block === 'attention' ? ['output', 'afterAttentionNorm'] : ['down', 'afterMlpNorm'];
    const biased = block === 'attention' ? config.outputBias : config.mlpBias;
    if (!config.sandwichNorms) return project(x, [`${layer}.${name}`], biased, stream)[0];
    const [y] = project(x, [`${layer}.${name}`], biased);
    return add(g, stream, norm(keep(block, y), `${layer}.${after}`));
  };

  const normed = norm(before, `${layer}.attentionNorm`);
  const [q, k, v] = project(normed, [`${layer}.q`, `${layer}.k`, `${layer}.v`], config.qkvBias);
  const query = rope(g, byHead(keep('q', q), heads, `${layer}.qNorm`), tables);
  const key = rope(g, byHead(keep('k', k), kvHeads, `${layer}.kNorm`), tables);
  const context = transpose(g, attend(layer, query, key, byHead(keep('v', v), kvHeads)), [0, 2, 1, 3]);
  let attended = reshape(g, context, [rows, heads * headDim]);
  let stream = before;
  if (index) {
    attended = gatherRows(g, attended, index);
    stream = gatherRows(g, stream, index);
  }
  stream = keep('middle', addBlock(stream, attended, 'attention'));
  const unit = norm(stream, `${layer}.mlpNorm`);
  const [gate, up] = project(unit, [`${layer}.gate`, `${layer}.up`], config.mlpBias);
  const gated = (config.activation === 'gelu-tanh' ? geglu : swiglu)(g, keep('gate', gate), keep('up', up));
  return addBlock(stream, gated, 'mlp');
}

function weightedNorm(g: Graph, x: Value, weight: Value, { rmsNormEps, normsAddOne }: ModelConfig): Value {
  return rmsNorm(g, x, normsAddOne ? add(g, weight, g.scalar(1)) : weight, rmsNormEps);
}

export type HeadOptions = Pick<TransformerOptions, 'config' | 'weight' | 'lora'>;

/** Final norm and output head on selected rows: logits [N, V]. */
export function outputLogits(g: Graph, rows: Value, options: HeadOptions): Value {
  const { config, weight, lora } = options;
  const normed = finalNorm(g, rows, options);
  const [logits] = adaptedLinear(g, { x: normed, names: [headName(config)], lora, weight, residual: undefined });
  return config.finalSoftcap === undefined ? logits : softcap(g, logits, config.finalSoftcap);
}

export function finalNorm(g: Graph, rows: Value, { config, weight }: HeadOptions): Value {
  return weightedNorm(g, rows, weight('norm'), config);
}

/** Engine name of the output matrix. */
export function headName({ tieEmbeddings }: ModelConfig): string {
  return tieEmbeddings ? 'embed' : 'head';
}

/** Factor on attention scores. */
export function scoreScale({ attentionScale, headDim }: ModelConfig): number {
  return attentionScale ?? 1 / Math.sqrt(headDim);
}

/** Masks of whole sequences as inputs [H / K * T, T]: `mask`, and `mask.sliding` where layers of the model need it. */
export function maskInputs(g: Graph, config: ModelConfig): (layer: number) => Value {
  const full = g.input('mask', 'float32', ['GT', 'T']);
  const local = config.sliding ? g.input('mask.sliding', 'float32', ['GT', 'T']) : full;
  return (layer) => (isSliding(config, layer) ? local : full);
}

/**
 * Causal attention within the sequences of a batch. Query heads of one group are folded into rows, so keys and
 * values are never repeated. Masks are 0 where a key is seen and very negative where it is not.
 */
export function causalAttention(
  g: Graph,
  config: ModelConfig,
  inputs: Pick<TransformerInputs, 'batch' | 'time'>,
  mask: (layer: number) => Value,
): Attend {
  const { heads, kvHeads, headDim } = config;
  return (layer, q, k, v) => {
    const own = mask(layer);
    const rows = reshape(g, q, [inputs.batch, kvHeads, own.shape[0], headDim]);
    const context = attention(g, { q: rows, k, v, mask: own, scale: scoreScale(config) });
    return reshape(g, context, [inputs.batch, heads, inputs.time, headDim]);
  };
}

type AdaptedOptions = {
  readonly x: Value;
  readonly names: readonly string[];
  readonly lora: GraphLora | undefined;
  readonly weight: (name: string) => Value;
  readonly residual: Value | undefined;
};

/** Products of x with matrices, adapters included where they have some, plus the residual. */
function adaptedLinear(g: Graph, { x, names, lora, weight, residual }: AdaptedOptions): Value[] {
  const matrices = (some: readonly string[]): Value[] => some.map((name) => weight(name));
  const parts = lora?.parts.filter((part) => names.includes(part.weight)) ?? [];
  if (!lora || parts.length === 0)
    return linear(
      g,
      x,
      matrices(names),
      names.map(() => residual),
    );
  const { folded, config } = lora;
  const scale = config.alpha / config.rank;
  const pairs = parts.map((part) => ({ a: weight(part.a), b: weight(part.b), residual }));
  const at = (name: string): number => parts.findIndex((part) => part.weight === name);
  if (!folded) {
    const deltas = lowRank(g, x, pairs, scale);
    const added = names.map((name) => (at(name) < 0 ? residual : deltas[at(name)]));
    return linear(g, x, matrices(names), added);
  }
  const adapted = parts.map((part, i) => ({ ...pairs[i], matrix: weight(part.weight) }));
  const outputs = foldedLinear(g, x, adapted, scale);
  const bare = names.filter((name) => at(name) < 0);
  const others = linear(
    g,
    x,
    matrices(bare),
    bare.map(() => residual),
  );
  return names.map((name) => (at(name) < 0 ? others[bare.indexOf(name)] : outputs[at(name)]));
}

/** Rotary tables by kind of layer, stored in the graph once each. */
function storedTables(g: Graph, config: ModelConfig): (layer: number) => { cos: Value; sin: Value } {
  const stored = new Map<boolean, { cos: Value; sin: Value }>();
  return (layer) => {
    const local = isSliding(config, layer);
    const known = stored.get(local);
    if (known) return known;
    const { cos, sin } = ropeAngles(config, layer);
    const shape = [config.maxPositions, config.headDim / 2];
    const name = local ? 'rope.sliding' : 'rope';
    const tables = { cos: g.table(`${name}.cos`, shape, cos), sin: g.table(`${name}.sin`, shape, sin) };
    stored.set(local, tables);
    return tables;
  };
}
