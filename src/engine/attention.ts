// Softmax attention as one differentiable step. What is attended to, and how heads are laid out, is `transformer.ts`.

import type { Graph, Value } from './graph.ts';
import { batchedProduct } from './ops.ts';

export type AttentionInputs = {
  /** [B, K, R, F]: R query rows for each of K key heads. */
  readonly q: Value;
  /** [B, K, T, F] */
  readonly k: Value;
  readonly v: Value;
  /** Added to the scores, [R, T]; not differentiated. */
  readonly mask: Value;
  /** Factor on the scores. */
  readonly scale: number;
};

/** softmax(scale q k^T + mask) v: [B, K, R, F]. */
export function attention(g: Graph, { q, k, v, mask, scale }: AttentionInputs): Value {
  const scores = batchedProduct(g, q, k, { transB: true, scale });
  const weights = softmax(g, g.node1('Add', [scores, mask], { type: 'float32', shape: scores.shape }));
  const y = batchedProduct(g, weights, v);
  const perRow = [...y.shape.slice(0, -1), 1];
  g.record({
    inputs: [q, k, v],
    outputs: [y],
    backward: ([dy]) => {
      // The softmax's inner product of weights and their gradient equals that of y and dy (Dao et al. 2022, section B.2),
      // which is shorter.
      const products = g.node1('Mul', [dy, y], { type: 'float32', shape: y.shape });
      const inner = g.node1('ReduceSum', [products, g.constant('int64', [1], [-1])], {
        type: 'float32',
        shape: perRow,
      });
      const dWeights = batchedProduct(g, dy!, v, { transB: true });
      const centred = g.node1('Sub', [dWeights, inner], { type: 'float32', shape: weights.shape });
      const dScores = g.node1('Mul', [weights, centred], { type: 'float32', shape: weights.shape });
      return [
        batchedProduct(g, dScores, k, { scale }),
        batchedProduct(g, dScores, q, { transA: true, scale }),
        batchedProduct(g, weights, dy!, { transA: true }),
      ];
    },
  });
  return y;
}

/** Softmax over the last axis. */
export function softmax(g: Graph, x: Value): Value {
  return g.node1('Softmax', [x], { type: 'float32', shape: x.shape }, { attributes: { axis: -1 } });
}
