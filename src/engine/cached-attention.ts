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

export type AttentionGroups = {
  /** Rows by prompt, as many lines for each prompt; [P R] */
  readonly lines: Value;
  /** The line of each row; [B] */
  readonly slots: Value;
  /** Widths of the new token, its prompt and its own places; [3] */
  readonly parts: Value;
  readonly shapes: { readonly [name in 'query' | 'scores' | 'lines' | 'split' | 'weights']: Value };
};

/** Inputs that say which rows have the same prompt; `shared-prompts.ts` makes their values. */
export function groupInputs(g: Graph): AttentionGroups {
  const shape = (name: string, rank: number): Value => g.input(`shape.${name}`, 'int64', [rank]);
  return {
    lines: g.input('lines', 'int64', ['PR']),
    slots: g.input('slots', 'int64', ['B']),
    parts: g.input('parts', 'int64', [3]),
    shapes: {
      query: shape('query', 5),
      scores: shape('scores', 5),
      lines: shape('lines', 4),
      split: shape('split', 5),
      weights: shape('weights', 4),
    },
  };
}

/**
 * As `cachedAttention`, with the keys and values of prompts in `shared.key.<layer>` and `shared.value.<layer>` [P, K, T, F],
 * which are read once for all rows of a prompt; the caches hold what was sampled since. The new keys and values are the
 * caller's to hand out.
 */
export function groupedAttention(
  g: Graph,
  config: ModelConfig,
  { layer, query, key, value, mask, groups }: CachedAttention & { readonly groups: AttentionGroups },
): Value {
  const { kvHeads, headDim } = config;
  const folds = query.shape[2] as number;
  const float = (shape: Shape): Omit<Value, 'name'> => ({ type: 'float32', shape });
  const input = (part: string, name: string, shape: Shape): Value =>
    g.input(`${part}.${name}.${layer}`, 'float32', shape);
  const [pastKey, pastValue] = ['key', 'value'].map((name) => input('past', name, ['B', kvHeads, 'S', headDim]));
  const [sharedKey, sharedValue] = ['key', 'value'].map((name) => input('shared', name, ['P', kvHeads, 'T', headDim]));
  const gather = (x: Value, index: Value): Value =>
    g.node1('Gather', [x, index], float([index.shape[0], ...x.shape.slice(1)]), { attributes: { axis: 0 } });
  const reshape = (x: Value, to: Value, shape: Shape): Value => g.node1('Reshape', [x, to], float(shape));
  const constant = (dims: readonly number[]): Value => g.constant('int64', [dims.length], dims);
  const turn = (x: Value, perm: readonly number[]): Value =>
    g.node1('Transpose', [x], float(perm.map((axis) => x.shape[axis])), { attributes: { perm } });
  const { lines, slots, shapes } = groups;
  const scale = scoreScale(config);

  const split = reshape(gather(query, lines), shapes.query, ['P', 'R', kvHeads, folds, headDim]);
  const together = reshape(turn(split, [0, 2, 1, 3, 4]), constant([0, kvHeads, -1, headDim]), [
    'P',
    kvHeads,
    'RG',
    headDim,
  ]);
  const scored = batchedProduct(g, together, sharedKey, { transB: true, scale });
  const apart = turn(reshape(scored, shapes.scores, ['P', kvHeads, 'R', folds, 'T']), [0, 2, 1, 3, 4]);
  const early = gather(reshape(apart, shapes.lines, ['PR', kvHeads, folds, 'T']), slots);
  const own = batchedProduct(g, query, key, { transB: true, scale });
  // Few queries to many places: the longer side as rows spares the runtime a copy of it.
  const recent = turn(batchedProduct(g, pastKey, query, { transB: true, scale }), [0, 1, 3, 2]);
  const scores = g.node1('Concat', [own, early, recent], float(['B', kvHeads, folds, 'S1']), {
    attributes: { axis: 3 },
  });
  const weights = softmax(g, g.node1('Add', [scores, mask], float(scores.shape)));
  const widths = [1, 'T', 'S'].map((width) => float(['B', kvHeads, folds, width]));
  const [late, first, since] = g.node('Split', [weights, groups.parts], widths, { attributes: { axis: 3 } });

  const grouped = turn(reshape(gather(first, lines), shapes.split, ['P', 'R', kvHeads, folds, 'T']), [0, 2, 1, 3, 4]);
  const read = batchedProduct(g, reshape(grouped, shapes.weights, ['P', kvHeads, 'RG', 'T']), sharedValue);
  const back = turn(
    reshape(read, constant([0, kvHeads, -1, folds, headDim]), ['P', kvHeads, 'R', folds, headDim]),
    [0, 2, 1, 3, 4],
  );
  const ofPrompt = gather(
    reshape(back, constant([-1, kvHeads, folds, headDim]), ['PR', kvHeads, folds, headDim]),
    slots,
  );
  const sum = (a: Value, b: Value): Value => g.node1('Add', [a, b], float(query.shape));
  return sum(sum(batchedProduct(g, since, pastValue), batchedProduct(g, late, value)), ofPrompt);
}
