// Attention of one new token a sequence over itself and the keys and values of earlier ones, which lie outside the graph
// in a `RowCache`. The new token comes first: what is hidden then lies at the end, and changes no bit however long it is.
// Letters: B sequences, K heads, G query heads a head, S places in the cache, F head size.

import { softmax } from './attention.ts';
import type { Dim, Graph, Shape, Value } from './graph.ts';
import { isSliding, type ModelConfig } from './model-config.ts';
import { batchedProduct } from './ops.ts';
import { MASKED } from './packing.ts';
import type { Feeds } from './session.ts';
import { scoreScale } from './transformer.ts';

/** Masks of the step as inputs [B, 1, 1, 1 + S]: `mask`, and `mask.sliding` where layers of the model need it. */
export function cacheMaskInputs(g: Graph, config: ModelConfig): (layer: number) => Value {
  const full = g.input('mask', 'float32', ['B', 1, 1, 'S1']);
  const local = config.sliding ? g.input('mask.sliding', 'float32', ['B', 1, 1, 'S1']) : full;
  return (layer) => (isSliding(config, layer) ? local : full);
}

/** Values of those inputs for rows whose new tokens are at `places`, in a cache of `width` places. */
export function cacheMasks({ sliding }: ModelConfig, places: readonly number[], width: number): Feeds {
  const make = (first: (place: number) => number): Feeds[string] => {
    const data = new Float32Array(places.length * (1 + width));
    places.forEach((place, row) => {
      const line = data.subarray(row * (1 + width), (row + 1) * (1 + width));
      line.fill(MASKED, 1 + place);
      line.fill(MASKED, 1, 1 + first(place));
    });
    return { data, shape: [places.length, 1, 1, 1 + width] };
  };
  const full = make(() => 0);
  if (!sliding) return { mask: full };
  return { mask: full, 'mask.sliding': make((place) => Math.max(0, place - sliding.window + 1)) };
}

export type CachedAttention = {
  readonly layer: number;
  /** [B, K, G, F] */
  readonly query: Value;
  /** [B, K, 1, F] */
  readonly key: Value;
  readonly value: Value;
  readonly mask: Value;
};

/**
 * [B, K, G, F]. Reads `past.key.<layer>` and `past.value.<layer>` [B, K, S, F], and hands out the new ones as `key.<layer>`
 * and `value.<layer>`, for the caller to put into the cache, since the runtime's binding copies every output.
 */
export function cachedAttention(
  g: Graph,
  config: ModelConfig,
  { layer, query, key, value, mask }: CachedAttention,
): Value {
  const { kvHeads, headDim } = config;
  const folds = query.shape[2];
  const float = (shape: Shape): Omit<Value, 'name'> => ({ type: 'float32', shape });
  g.output(`key.${layer}`, key);
  g.output(`value.${layer}`, value);
  const [pastKey, pastValue] = ['key', 'value'].map((part) =>
    g.input(`past.${part}.${layer}`, 'float32', ['B', kvHeads, 'S', headDim]),
  );
  const scale = scoreScale(config);
  const own = batchedProduct(g, query, key, { transB: true, scale });
  const early = batchedProduct(g, query, pastKey, { transB: true, scale });
  const scores = g.node1('Concat', [own, early], float(['B', kvHeads, folds, 'S1']), { attributes: { axis: 3 } });
  const weights = softmax(g, g.node1('Add', [scores, mask], float(scores.shape)));
  const axis = g.constant('int64', [1], [3]);
  const cut = (from: number, to: number, width: Dim): Value => {
    const bounds = [g.constant('int64', [1], [from]), g.constant('int64', [1], [to])];
    return g.node1('Slice', [weights, ...bounds, axis], float(['B', kvHeads, folds, width]));
  };
  const late = batchedProduct(g, cut(0, 1, 1), value);
  return g.node1('Add', [batchedProduct(g, cut(1, 2 ** 31 - 1, 'S'), pastValue), late], float(query.shape));
}
