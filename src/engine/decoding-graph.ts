// The graphs of a sampler. The scoring graphs give the log-probabilities of given tokens, and what else was likely. The
// prompt graph reads whole prompts and hands out keys and values; the step graph reads one new token a sequence against
// those of earlier ones.
// Letters: B sequences, T prompt length, H and K heads, F head size.

import { cachedAttention, cacheMaskInputs } from './cached-attention.ts';
import { sequenceEmbeddings, stepEmbeddings } from './embeddings.ts';
import { Graph, type Value } from './graph.ts';
import type { ModelConfig } from './model-config.ts';
import { reshape, targetLogprobs } from './ops.ts';
import {
  causalAttention,
  maskInputs,
  outputLogits,
  residualStream,
  type Attend,
  type GraphLora,
  type TransformerInputs,
} from './transformer.ts';
import type { WeightSpec } from './weights.ts';

/** What the graphs of a model are made from: its shape, and its weights, which are all inputs. */
export type ModelLayout = {
  readonly config: ModelConfig;
  /** Base weights, then those of adapters. */
  readonly specs: readonly WeightSpec[];
  readonly lora?: GraphLora;
};

/** Outputs `logits` [N, V] at the rows of `index`, and `k.<layer>`, `v.<layer>` [B, K, T, F]. */
export function promptGraph(layout: ModelLayout): Graph {
  const g = new Graph();
  const logits = sequenceLogits(g, layout, (layer, k, v) => {
    g.output(`k.${layer}`, k);
    g.output(`v.${layer}`, v);
  });
  g.output('logits', logits);
  return g;
}

/** Outputs `logprobs` [N] of `targets` [N] at the rows of `index`. */
export function scoringGraph(layout: ModelLayout): Graph {
  const g = new Graph();
  const logits = sequenceLogits(g, layout);
  g.output('logprobs', targetLogprobs(g, logits, g.input('targets', 'int64', ['N'])));
  return g;
}

/** `choiceNodes` at the rows of `index`. */
export function choicesGraph(layout: ModelLayout): Graph {
  const g = new Graph();
  choiceNodes(g, sequenceLogits(g, layout));
  return g;
}

/**
 * Outputs `chosen` [N, K], the log-probabilities of `choices` [N, K] under logits [N, V]; and the `k` [1] most likely
 * tokens, `top.logprobs` and `top.tokens` [N, k], most likely first.
 */
export function choiceNodes(g: Graph, logits: Value): void {
  const logprobs = g.node1(
    'LogSoftmax',
    [logits],
    { type: 'float32', shape: logits.shape },
    { attributes: { axis: -1 } },
  );
  const choices = g.input('choices', 'int64', ['N', 'K']);
  const chosen = { type: 'float32', shape: choices.shape } as const;
  g.output('chosen', g.node1('GatherElements', [logprobs, choices], chosen, { attributes: { axis: 1 } }));
  const count = g.input('k', 'int64', [1]);
  const [values, tokens] = g.node(
    'TopK',
    [logprobs, count],
    [
      { type: 'float32', shape: ['N', 'k'] },
      { type: 'int64', shape: ['N', 'k'] },
    ],
    { attributes: { axis: -1, largest: 1, sorted: 1 } },
  );
  g.output('top.logprobs', values);
  // Ids of a vocabulary are exact in single precision.
  g.output('top.tokens', g.node1('Cast', [tokens], { type: 'float32', shape: ['N', 'k'] }, { attributes: { to: 1 } }));
}

/** Whole sequences, `ids` [M] with `mask` [H / K * T, T], to logits [N, V] at the rows of `index` [N]. */
function sequenceLogits(
  g: Graph,
  { config, specs, lora }: ModelLayout,
  keep: (layer: number, k: Value, v: Value) => void = () => undefined,
): Value {
  const weight = weightInputs(g, specs);
  const mask = maskInputs(g, config);
  const sizes = { batch: 'B', time: 'T' } as const;
  const embeddings = sequenceEmbeddings(g, { config, weight }, g.input('ids', 'int64', ['M']), sizes);
  const inputs: TransformerInputs = { embeddings, positions: g.constant('int64', [1], [0]), ...sizes };
  const index = g.input('index', 'int64', ['N']);
  const causal = causalAttention(g, config, inputs, mask);
  const attend: Attend = (layer, q, k, v) => {
    keep(layer, k, v);
    return causal(layer, q, k, v);
  };
  const options = { config, weight, ...(lora ? { lora } : {}) };
  return outputLogits(g, residualStream(g, { ...options, inputs, attend, index }), options);
}

/**
 * Reads one token a sequence, `ids` and the ids before it, `earlier.<i>` [B]. Further inputs: positions [B, 1], and caches
 * and masks as `cached-attention.ts` has them. Outputs `logits` [B, V] and what goes into the caches.
 */
export function stepGraph({ config, specs, lora }: ModelLayout): Graph {
  const { heads, kvHeads, headDim } = config;
  const g = new Graph();
  const weight = weightInputs(g, specs);
  const positions = g.input('positions', 'int64', ['B', 1]);
  const ids = g.input('ids', 'int64', ['B']);
  const earlier = Array.from({ length: config.taps - 1 }, (_, i) => g.input(`earlier.${i}`, 'int64', ['B']));
  const embeddings = stepEmbeddings(g, { config, weight }, ids, earlier);
  const inputs: TransformerInputs = { embeddings, positions, batch: 'B', time: 1 };
  const masks = cacheMaskInputs(g, config);
  const attend: Attend = (layer, q, key, value) => {
    const query = reshape(g, q, ['B', kvHeads, heads / kvHeads, headDim]);
    const result = cachedAttention(g, config, { layer, query, key, value, mask: masks(layer) });
    return reshape(g, result, ['B', heads, 1, headDim]);
  };
  const options = { config, weight, ...(lora ? { lora } : {}) };
  g.output('logits', outputLogits(g, residualStream(g, { ...options, inputs, attend }), options));
  return g;
}

function weightInputs(g: Graph, specs: readonly WeightSpec[]): (name: string) => Value {
  const values = new Map(specs.map((spec) => [spec.name, g.input(spec.name, 'float32', spec.shape)]));
  return (name) => values.get(name)!;
}
