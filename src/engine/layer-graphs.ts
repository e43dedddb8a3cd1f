// Graphs of one layer and of the head, for models that are run layer by layer: every layer of a kind
// shares a compiled graph, and what is kept between the way forth and the way back lies outside the runtime.
// The names of weights are those of a model's first layer.

import type { LossName } from '../core/index.ts';
import { gradientsFrom, gradients } from './autodiff.ts';
import { blockedAttention } from './blocked-attention.ts';
import { frozenLogprobs } from './frozen-logprobs.ts';
import { Graph, type Shape, type Value } from './graph.ts';
import { LOSS_SCALARS, LOSS_VECTORS, tokenLoss } from './losses.ts';
import type { ModelConfig } from './model-config.ts';
import { concat, targetLogprobs } from './ops.ts';
import {
  decoderLayer,
  finalNorm,
  headName,
  keptValues,
  outputLogits,
  scoreScale,
  type GraphLora,
  type KeptValue,
} from './transformer.ts';
import type { WeightSpec } from './weights.ts';

export type LayerLayout = {
  readonly config: ModelConfig;
  /** Weights and adapters of the first layer. */
  readonly specs: readonly WeightSpec[];
  readonly lora?: GraphLora;
  /** Number of blocks that attention is cut into. */
  readonly blocks: number;
  /** Only the rows of `index` are wanted after attention, as in the last layer. */
  readonly indexed: boolean;
};

export type ForwardLayer = LayerLayout & {
  /** Values to hand out for the way back, as `kept.<name>`. */
  readonly keeps: boolean;
  /** Hand out keys and values, `key` and `value` [B, K, T, F]. */
  readonly cache: boolean;
  /** Keys and values of earlier tokens come in as `past.key` and `past.value` [B, K, P, F]. */
  readonly past: boolean;
};

/** `stream` [M, D] to `stream.out`: M rows, or those of `index`. */
export function forwardLayerGraph(layer: ForwardLayer): Graph {
  const g = new Graph();
  const keep = (name: KeptValue, value: Value): Value => {
    if (layer.keeps) g.output(`kept.${name}`, value);
    return value;
  };
  const { stream } = layerNodes(g, layer, keep);
  g.output('stream.out', stream);
  g.prune();
  return g;
}

/**
 * From `stream`, the kept values and `slope` (the gradient of `stream.out`) to `stream.slope` and, for each trainable
 * weight, `gradient.<name>`.
 */
export function backwardLayerGraph(layer: LayerLayout, trainable: readonly WeightSpec[]): Graph {
  const g = new Graph();
  const wanted = new Set(keptValues(layer.config));
  const keep = (name: KeptValue, value: Value): Value => {
    if (!wanted.has(name)) return value;
    const kept = g.input(`kept.${name}`, 'float32', value.shape);
    // As the attention does, whose own nodes would otherwise be needed.
    if (name !== 'context') g.record({ inputs: [value], outputs: [kept], backward: ([dy]) => [dy] });
    return kept;
  };
  const nodes = layerNodes(g, { ...layer, keeps: false, cache: false, past: false }, keep);
  const slope = g.input('slope', 'float32', nodes.stream.shape);
  const weights = trainable.map(({ name }) => nodes.weight(name));
  const [first, ...others] = gradientsFrom(g, nodes.stream, slope, [nodes.before, ...weights]);
  g.output('stream.slope', first);
  others.forEach((gradient, i) => g.output(`gradient.${trainable[i].name}`, gradient));
  g.prune();
  return g;
}

function layerNodes(
  g: Graph,
  layer: ForwardLayer,
  keep: (name: KeptValue, value: Value) => Value,
): { readonly before: Value; readonly stream: Value; readonly weight: (name: string) => Value } {
  const { config, specs, lora, blocks, indexed, cache, past } = layer;
  const { hiddenSize, headDim, kvHeads } = config;
  const weight = weightInputs(g, specs);
  const angles: Shape = ['T', headDim / 2];
  const tables = { cos: g.input('rope.cos', 'float32', angles), sin: g.input('rope.sin', 'float32', angles) };
  const before = g.input('stream', 'float32', ['M', hiddenSize]);
  const index = indexed ? g.input('index', 'int64', ['N']) : undefined;
  const join = (name: string, own: Value): Value => {
    if (cache) g.output(name, own);
    if (!past) return own;
    const earlier = g.input(`past.${name}`, 'float32', ['B', kvHeads, 'P', headDim]);
    return concat(g, [earlier, own], 2, 'PT');
  };
  const stream = decoderLayer(
    g,
    {
      config,
      weight,
      ...(lora ? { lora } : {}),
      layer: 0,
      inputs: { positions: g.constant('int64', [1], [0]), batch: 'B', time: 'T' },
      tables,
      index,
      keep,
      attend: (_layer, q, k, v) =>
        blockedAttention(g, {
          q,
          k: join('key', k),
          v: join('value', v),
          kvHeads,
          scale: scoreScale(config),
          blocks,
          past,
          keep: (context) => keep('context', context),
        }),
    },
    before,
  );
  return { before, stream, weight };
}

export type HeadLayout = {
  readonly config: ModelConfig;
  /** Weights of the final norm and the head, and its adapters. */
  readonly specs: readonly WeightSpec[];
  readonly lora?: GraphLora;
};

/**
 * A loss at some rows of the stream: `rows` [N, D] and `targets` [N] to `logprobs` [N] and `loss` [1]; with `slopes` also
 * to `rows.slope` and `gradient.<name>` of each trainable weight.
 */
export function headGraph(
  { config, specs, lora }: HeadLayout,
  loss: LossName,
  { slopes, trainable }: { readonly slopes: boolean; readonly trainable: readonly WeightSpec[] },
): Graph {
  const g = new Graph();
  const weight = weightInputs(g, specs);
  const rows = g.input('rows', 'float32', ['N', config.hiddenSize]);
  const head = { config, weight, ...(lora ? { lora } : {}) };
  const targets = g.input('targets', 'int64', ['N']);
  // Where only the rows' own gradient is wanted, that of the logits need not be made.
  const frozen = trainable.length === 0 && !lora?.parts.length && config.finalSoftcap === undefined;
  const logprobs = frozen
    ? frozenLogprobs(g, finalNorm(g, rows, head), weight(headName(config)), targets)
    : targetLogprobs(g, outputLogits(g, rows, head), targets);
  const inputs: Record<string, Value> = {};
  for (const name of LOSS_VECTORS[loss]) inputs[name] = g.input(`loss.${name}`, 'float32', ['N']);
  for (const name of Object.keys(LOSS_SCALARS[loss])) inputs[name] = g.input(`loss.${name}`, 'float32', []);
  const perToken = tokenLoss(g, loss, logprobs, inputs);
  g.output('logprobs', logprobs);
  const sum = { type: 'float32', shape: [1] } as const;
  g.output('loss', g.node1('ReduceSum', [perToken], sum, { attributes: { keepdims: 1 } }));
  if (slopes) {
    const wanted = [rows, ...trainable.map(({ name }) => weight(name))];
    const [first, ...others] = gradients(g, perToken, wanted);
    g.output('rows.slope', first);
    others.forEach((gradient, i) => g.output(`gradient.${trainable[i].name}`, gradient));
  }
  g.prune();
  return g;
}

/** `rows` [N, D] of the stream to logits [N, V]. */
export function logitsNodes(g: Graph, { config, specs, lora }: HeadLayout): Value {
  const weight = weightInputs(g, specs);
  const rows = g.input('rows', 'float32', ['N', config.hiddenSize]);
  return outputLogits(g, rows, { config, weight, ...(lora ? { lora } : {}) });
}

function weightInputs(g: Graph, specs: readonly WeightSpec[]): (name: string) => Value {
  const values = new Map(specs.map((spec) => [spec.name, g.input(spec.name, 'float32', spec.shape)]));
  return (name) => values.get(name)!;
}
