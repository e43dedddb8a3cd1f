// The decoding step of a large model: one new token a sequence through every layer, with the weights as constants that the
// runtime has rearranged for products of few rows, and attention over caches that lie outside. Matrices that read
// the same vector and lie side by side are one product. Adapters of any rank come in beside the weights.
// Letters: B sequences, D width, H and K heads, S places in the cache, F head size, R adapter ranks.

import { cacheMaskInputs, groupedAttention, groupInputs, type AttentionGroups } from './cached-attention.ts';
import { drawingNodes } from './drawing-nodes.ts';
import { Graph, type Shape, type Value } from './graph.ts';
import { isSliding, type ModelConfig } from './model-config.ts';
import { ropeAngles } from './rope-tables.ts';
import { gemm, type StepWeights } from './step-weights.ts';

/** Matrices of a layer that are one product: those that read the same vector. */
export const PRODUCTS = {
  qkv: ['q', 'k', 'v'],
  output: ['output'],
  gateUp: ['gate', 'up'],
  down: ['down'],
} as const;
export type ProductName = keyof typeof PRODUCTS;

/** The input that holds an adapter of a product: `<layer>.<product>.a` [R, in] and `.b` [out, R], scaled already. */
export function adapterInput(layer: number | 'head', product: ProductName | 'head', side: 'a' | 'b'): string {
  return layer === 'head' ? `head.${side}` : `${layer}.${product}.${side}`;
}

export type PackedStep = {
  readonly config: ModelConfig;
  readonly weights: StepWeights;
  readonly adapted: boolean;
};

/**
 * Inputs: `stream` [B, D], the looked-up embeddings; `positions` [B, 1] of the new tokens; caches `past.key.<layer>` and
 * `past.value.<layer>` [B, K, S, F]; `mask` [B, 1, 1, 1 + S] (and `mask.sliding`), the new token first. Outputs
 * those of `drawing-nodes.ts`, and `fresh` [2 layers B, K, 1, F], the new tokens' keys and then values, layer by layer.
 */
export function packedStepGraph({ config, weights, adapted }: PackedStep): Graph {
  const { hiddenSize, intermediateSize, vocabSize, layers, rmsNormEps } = config;
  const g = new Graph();
  const op = (name: string, inputs: readonly (Value | undefined)[], width: number): Value =>
    g.node1(name, inputs, { type: 'float32', shape: ['B', width] });
  const norm = (x: Value, name: string, shape = x.shape): Value => {
    const w = weights.vector(g, [name]);
    const weight = config.normsAddOne ? g.node1('Add', [w, g.scalar(1)], { type: 'float32', shape: w.shape }) : w;
    const attributes = { axis: -1, epsilon: { float: rmsNormEps }, stash_type: 1 };
    return g.node1('SimplifiedLayerNormalization', [x, weight], { type: 'float32', shape }, { attributes });
  };
  const namesOf = (layer: number | 'head', name: ProductName | 'head'): string[] =>
    layer === 'head'
      ? [config.tieEmbeddings ? 'embed' : 'head']
      : PRODUCTS[name as ProductName].map((part) => `${layer}.${part}`);
  /** What adapters of a product add to it, and the residual. */
  const sumOf = (x: Value, layer: number | 'head', name: ProductName | 'head', residual?: Value): Value | undefined => {
    if (!adapted || (layer === 'head' && config.tieEmbeddings)) return residual;
    const [out, width] = weights.shape(namesOf(layer, name));
    const rank = `R.${layer}.${name}`;
    const a = g.input(adapterInput(layer, name, 'a'), 'float32', [rank, width]);
    const b = g.input(adapterInput(layer, name, 'b'), 'float32', [out, rank]);
    return gemm(g, gemm(g, x, a), b, residual);
  };
  const biased = (y: Value, names: readonly string[]): Value => {
    const biases = names.map((part) => `${part}Bias`);
    if (!weights.has(biases[0])) return y;
    return g.node1('Add', [y, weights.vector(g, biases)], { type: 'float32', shape: y.shape });
  };
  const product = (x: Value, layer: number | 'head', name: ProductName | 'head', residual?: Value): Value => {
    const names = namesOf(layer, name);
    return biased(weights.product(g, x, names, sumOf(x, layer, name, residual)), names);
  };
  const addBlock = (stream: Value, x: Value, layer: number, name: 'output' | 'down'): Value => {
    if (!config.sandwichNorms) return product(x, layer, name, stream);
    const after = name === 'output' ? 'afterAttentionNorm' : 'afterMlpNorm';
    return op('Add', [stream, norm(product(x, layer, name), `${layer}.${after}`)], hiddenSize);
  };
  const positions = g.input('positions', 'int64', ['B', 1]);
  const masks = cacheMaskInputs(g, config);
  const groups = groupInputs(g);
  const rope = tables(g, config);
  const fresh: { readonly key: Value[]; readonly value: Value[] } = { key: [], value: [] };

  let stream = g.input('stream', 'float32', ['B', hiddenSize]);
  for (let layer = 0; layer < layers; layer++) {
    const qkv = product(norm(stream, `${layer}.attentionNorm`), layer, 'qkv');
    const attended = attend(g, { config, layer, norm, qkv, positions, mask: masks(layer), groups, rope, fresh });
    stream = addBlock(stream, attended, layer, 'output');
    const unit = norm(stream, `${layer}.mlpNorm`);
    const matrices = namesOf(layer, 'gateUp');
    const parts = weights.parts(g, unit, matrices, sumOf(unit, layer, 'gateUp'));
    const [gate, up] = parts.map((part, i) => biased(part, [matrices[i]]));
    const active =
      config.activation === 'gelu-tanh'
        ? g.node1('Gelu', [gate], { type: 'float32', shape: gate.shape }, { attributes: { approximate: 'tanh' } })
        : op('Mul', [gate, op('Sigmoid', [gate], intermediateSize)], intermediateSize);
    stream = addBlock(stream, op('Mul', [active, up], intermediateSize), layer, 'down');
  }
  let logits = product(norm(stream, 'norm'), 'head', 'head');
  if (config.finalSoftcap !== undefined) {
    const small = op('Tanh', [op('Mul', [logits, g.scalar(1 / config.finalSoftcap)], vocabSize)], vocabSize);
    logits = op('Mul', [small, g.scalar(config.finalSoftcap)], vocabSize);
  }
  drawingNodes(g, logits);
  // One output, since each that is handed out costs some time however small it is.
  const shape = ['LB', config.kvHeads, 1, config.headDim];
  const options = { attributes: { axis: 0 }, names: ['fresh'] };
  g.node('Concat', [...fresh.key, ...fresh.value], [{ type: 'float32', shape }], options);
  return g;
}

type AttendOptions = {
  readonly config: ModelConfig;
  readonly layer: number;
  readonly norm: (x: Value, name: string) => Value;
  /** [B, (H + 2 K) F] */
  readonly qkv: Value;
  readonly positions: Value;
  readonly mask: Value;
  readonly groups: AttentionGroups;
  readonly rope: (layer: number) => { readonly cos: Value; readonly sin: Value };
  /** Where the new keys and values go. */
  readonly fresh: { readonly key: Value[]; readonly value: Value[] };
};

/** Attention of the new tokens over themselves and their caches: [B, H F]. */
function attend(g: Graph, { config, layer, norm, qkv, positions, mask, groups, rope, fresh }: AttendOptions): Value {
  const { heads, kvHeads, headDim } = config;
  const float = (shape: Shape): Omit<Value, 'name'> => ({ type: 'float32', shape });
  const reshape = (x: Value, to: readonly number[], shape: Shape): Value =>
    g.node1('Reshape', [x, g.constant('int64', [to.length], to)], float(shape));
  const counts = [heads, kvHeads, kvHeads];
  const parts = g.node(
    'Split',
    [
      qkv,
      g.constant(
        'int64',
        [3],
        counts.map((count) => count * headDim),
      ),
    ],
    counts.map((count) => float(['B', count * headDim])),
    { attributes: { axis: 1 } },
  );
  const [q, k, v] = parts.map((part, i) => reshape(part, [0, counts[i], 1, headDim], ['B', counts[i], 1, headDim]));
  const tables = rope(layer);
  const turn = (x: Value, name: string): Value =>
    g.node1(
      'RotaryEmbedding',
      [config.qkNorm ? norm(x, `${layer}.${name}`) : x, positions, tables.cos, tables.sin],
      float(x.shape),
      { domain: 'com.microsoft' },
    );
  const folds = heads / kvHeads;
  const query = reshape(turn(q, 'qNorm'), [0, kvHeads, folds, headDim], ['B', kvHeads, folds, headDim]);
  const key = turn(k, 'kNorm');
  fresh.key.push(key);
  fresh.value.push(v);
  const result = groupedAttention(g, config, { layer, query, key, value: v, mask, groups });
  return reshape(result, [0, heads * headDim], ['B', heads * headDim]);
}

function tables(g: Graph, config: ModelConfig): (layer: number) => { readonly cos: Value; readonly sin: Value } {
  const made = new Map<boolean, { readonly cos: Value; readonly sin: Value }>();
  return (layer) => {
    const local = isSliding(config, layer);
    const known = made.get(local);
    if (known) return known;
    const { cos, sin } = ropeAngles(config, layer);
    const shape = [config.maxPositions, config.headDim / 2];
    const name = local ? 'rope.sliding' : 'rope';
    const both = { cos: g.table(`${name}.cos`, shape, cos), sin: g.table(`${name}.sin`, shape, sin) };
    made.set(local, both);
    return both;
  };
}
