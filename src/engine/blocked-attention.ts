// Causal attention in blocks of queries, each of which reads only the keys that its mask does not hide, and computed
// again on the way back: memory is that of one block's scores, and what lies in the future costs nothing
// (Rabe and Staats 2021; Dao et al. 2022). Where blocks begin and end is fed, since lengths are known only then.
// Letters: B batch, K key heads, G query heads a key head, T queries, P keys before them, F head size.

import { softmax } from './attention.ts';
import type { Graph, Value } from './graph.ts';
import type { ModelConfig } from './model-config.ts';
import { batchedProduct } from './ops.ts';
import { MASKED } from './packing.ts';
import type { Feeds } from './session.ts';

/** Queries a block, about: short enough to skip much of the future, long enough for large products. */
const BLOCK = 128;
const MAX_BLOCKS = 64;

/** Number of blocks, a power of two so that few graphs are compiled. */
export function blockCount(time: number): number {
  let count = 1;
  while (count * BLOCK < time && count < MAX_BLOCKS) count *= 2;
  return count;
}

export type BlockedAttentionOptions = {
  /** [B, K G, T, F] */
  readonly q: Value;
  /** [B, K, P + T, F] */
  readonly k: Value;
  readonly v: Value;
  readonly kvHeads: number;
  readonly scale: number;
  readonly blocks: number;
  /** Keys of earlier tokens come before those of the queries. */
  readonly past: boolean;
  /** Given the result, what to use in its place: the result itself, or what was kept of an earlier run. */
  readonly keep: (context: Value) => Value;
};

type Block = {
  /** [1] each: queries from..to, keys from..to. */
  readonly queries: readonly [Value, Value];
  readonly keys: readonly [Value, Value];
  /** Places of the keys before and after those of the block, as pads of [B, K, keys, F]. */
  readonly pads: Value;
  /** [G queries, keys] */
  readonly mask: Value;
};

const float = (shape: Value['shape']): Omit<Value, 'name'> => ({ type: 'float32', shape });

/** [B, K G, T, F], rows in the order of q. */
export function blockedAttention(g: Graph, options: BlockedAttentionOptions): Value {
  const { q, k, v, kvHeads, scale, past, keep } = options;
  const [batch, heads, time, size] = q.shape;
  const folds = (heads as number) / kvHeads;
  const blocks = Array.from({ length: options.blocks }, (_, i) => blockInputs(g, i));
  // A lone block over nothing earlier has every query and every key: it need not be cut out, nor put back.
  const whole = options.blocks === 1 && !past;
  const grouped = [batch, kvHeads, folds, time, size] as const;
  const group = (x: Value): Value => resize(g, x, [0, kvHeads, folds, -1, size as number], grouped);
  const ungroup = (x: Value): Value => resize(g, x, [0, heads as number, -1, size as number], q.shape);
  const rows = (x: Value, block: Block, i: number): Value => {
    const part = whole ? x : slice(g, x, 3, block.queries, [batch, kvHeads, folds, `q${i}`, size]);
    return resize(g, part, [0, 0, -1, size as number], [batch, kvHeads, `gq${i}`, size]);
  };
  const keys = (x: Value, block: Block, i: number): Value =>
    whole ? x : slice(g, x, 2, block.keys, [batch, kvHeads, `k${i}`, size]);
  const unfold = (x: Value, i: number): Value =>
    resize(g, x, [0, 0, folds, -1, size as number], [batch, kvHeads, folds, `q${i}`, size]);
  const weights = (query: Value, key: Value, { mask }: Block): Value => {
    const scores = batchedProduct(g, query, key, { transB: true, scale });
    return softmax(g, g.node1('Add', [scores, mask], float(scores.shape)));
  };
  const join = (parts: readonly Value[]): Value =>
    parts.length === 1 ? parts[0] : g.node1('Concat', parts, float(grouped), { attributes: { axis: 3 } });

  const groupedQ = group(q);
  const parts = blocks.map((block, i) => {
    const probabilities = weights(rows(groupedQ, block, i), keys(k, block, i), block);
    return unfold(batchedProduct(g, probabilities, keys(v, block, i)), i);
  });
  const y = keep(ungroup(join(parts)));
  g.record({
    inputs: [q, k, v],
    outputs: [y],
    backward: ([dy]) => {
      const groupedY = group(y);
      const groupedDy = group(dy!);
      const dq: Value[] = [];
      let dk: Value | undefined;
      let dv: Value | undefined;
      const sum = (total: Value | undefined, part: Value): Value =>
        total ? g.node1('Add', [total, part], float(k.shape)) : part;
      const spread = (part: Value, { pads }: Block): Value =>
        whole ? part : g.node1('Pad', [part, pads], float(k.shape));
      blocks.forEach((block, i) => {
        const [query, key, value] = [rows(groupedQ, block, i), keys(k, block, i), keys(v, block, i)];
        const [out, slope] = [rows(groupedY, block, i), rows(groupedDy, block, i)];
        const probabilities = weights(query, key, block);
        const products = g.node1('Mul', [slope, out], float(out.shape));
        const perRow = float([...out.shape.slice(0, -1), 1]);
        const inner = g.node1('ReduceSum', [products, g.constant('int64', [1], [-1])], perRow);
        const dWeights = batchedProduct(g, slope, value, { transB: true });
        const centred = g.node1('Sub', [dWeights, inner], float(dWeights.shape));
        const dScores = g.node1('Mul', [probabilities, centred], float(dWeights.shape));
        dq.push(unfold(batchedProduct(g, dScores, key, { scale }), i));
        dk = sum(dk, spread(batchedProduct(g, dScores, query, { transA: true, scale }), block));
        dv = sum(dv, spread(batchedProduct(g, probabilities, slope, { transA: true }), block));
      });
      return [ungroup(join(dq)), dk, dv];
    },
  });
  return y;
}

function blockInputs(g: Graph, i: number): Block {
  const place = (name: string): Value => g.input(`block.${i}.${name}`, 'int64', [1]);
  return {
    queries: [place('queries.from'), place('queries.to')],
    keys: [place('keys.from'), place('keys.to')],
    pads: g.input(`block.${i}.pads`, 'int64', [8]),
    mask: g.input(`block.${i}.mask`, 'float32', [`gq${i}`, `k${i}`]),
  };
}

/** What the blocks of a layer read: queries `past`..`past + time` over all keys up to their own, or the last `window`. */
export function blockFeeds(
  { heads, kvHeads }: ModelConfig,
  { time, past, window }: { readonly time: number; readonly past: number; readonly window: number | undefined },
): Feeds {
  const folds = heads / kvHeads;
  const count = blockCount(time);
  const length = Math.ceil(time / count);
  const feeds: Record<string, Feeds[string]> = {};
  for (let i = 0; i < count; i++) {
    const from = Math.min(i * length, time);
    const to = Math.min(from + length, time);
    const first = window === undefined ? 0 : Math.max(0, Math.min(past + from - window + 1, past + to));
    const last = past + to;
    const width = last - first;
    const rows = to - from;
    const mask = new Float32Array(folds * rows * width);
    for (let row = 0; row < folds * rows; row++) {
      const position = past + from + (row % rows);
      const line = mask.subarray(row * width, (row + 1) * width);
      line.fill(MASKED, position + 1 - first);
      if (window !== undefined) line.fill(MASKED, 0, Math.max(0, position - window + 1 - first));
    }
    const place = (value: number): Feeds[string] => ({ data: BigInt64Array.of(BigInt(value)), shape: [1] });
    const pads = BigInt64Array.from([0, 0, first, 0, 0, 0, past + time - last, 0], BigInt);
    Object.assign(feeds, {
      [`block.${i}.queries.from`]: place(from),
      [`block.${i}.queries.to`]: place(to),
      [`block.${i}.keys.from`]: place(first),
      [`block.${i}.keys.to`]: place(last),
      [`block.${i}.pads`]: { data: pads, shape: [8] },
      [`block.${i}.mask`]: { data: mask, shape: [folds * rows, width] },
    });
  }
  return feeds;
}

function slice(g: Graph, x: Value, axis: number, bounds: readonly [Value, Value], shape: Value['shape']): Value {
  return g.node1('Slice', [x, ...bounds, g.constant('int64', [1], [axis])], float(shape));
}

/** Reshape with 0 for "as it was" and -1 for what is left. */
function resize(g: Graph, x: Value, to: readonly number[], shape: Value['shape']): Value {
  return g.node1('Reshape', [x, g.constant('int64', [to.length], to)], float(shape));
}
