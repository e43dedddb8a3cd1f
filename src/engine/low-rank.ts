// What low-rank adapters add to products of one vector, as a differentiable operation: scale x A^T B^T, forth and back. The
// A of matrices that read the same x are one product, and the scale rides on the small products, where it costs nothing.
// Letters: M rows, R rank, n adapters.

import type { Graph, Shape, Value } from './graph.ts';
import { flip } from './ops.ts';

export type LowRankPart = {
  /** [R, in] */
  readonly a: Value;
  /** [out, R] */
  readonly b: Value;
  /** [M, out], added to the result. */
  readonly residual?: Value | undefined;
};

const float = (shape: Shape): Omit<Value, 'name'> => ({ type: 'float32', shape });

/** scale x A_i^T B_i^T (+ residual_i), [M, out_i] each, for x[M, in]. */
export function lowRank(g: Graph, x: Value, parts: readonly LowRankPart[], scale: number): Value[] {
  const rows = x.shape[0];
  const ranks = parts.map(({ a }) => a.shape[0] as number);
  const total = ranks.reduce((sum, rank) => sum + rank, 0);
  const scaled = { alpha: { float: scale } };
  const join = (values: readonly Value[], axis: number, shape: Shape): Value =>
    values.length === 1 ? values[0] : g.node1('Concat', values, float(shape), { attributes: { axis } });
  const cut = (value: Value, axis: number, shape: (rank: number) => Shape): Value[] =>
    ranks.length === 1
      ? [value]
      : g.node(
          'Split',
          [value, g.constant('int64', [ranks.length], ranks)],
          ranks.map((rank) => float(shape(rank))),
          {
            attributes: { axis },
          },
        );
  const matrix = join(
    parts.map(({ a }) => a),
    0,
    [total, x.shape[1]],
  );
  const low = g.node1('Gemm', [x, matrix], float([rows, total]), { attributes: { ...scaled, transB: 1 } });
  const lows = cut(low, 1, (rank) => [rows, rank]);
  const outputs = parts.map(({ b, residual }, i) =>
    g.node1('Gemm', [lows[i], b, residual], float([rows, b.shape[0]]), { attributes: { transB: 1 } }),
  );
  const added = parts.flatMap(({ residual }, i) => (residual ? [i] : []));
  g.record({
    inputs: [x, ...parts.flatMap(({ a, b }) => [a, b]), ...added.map((i) => parts[i].residual!)],
    outputs,
    backward: (gradients, [needX, ...needWeights]) => {
      const zero = (i: number): Value => g.node1('Mul', [outputs[i], g.scalar(0)], float(outputs[i].shape));
      const slopes = parts.map((_, i) => gradients[i] ?? zero(i));
      const lowSlopes = parts.map(({ b }, i) => g.node1('Gemm', [slopes[i], b], float([rows, ranks[i]])));
      const slope = join(lowSlopes, 1, [rows, total]);
      const dx = needX ? g.node1('Gemm', [slope, matrix], float(x.shape), { attributes: scaled }) : undefined;
      const dWeights: (Value | undefined)[] = parts.flatMap(() => [undefined, undefined]);
      if (needWeights.slice(0, dWeights.length).includes(true)) {
        const das = g.node1('Gemm', [flip(g, slope), x], float(matrix.shape), { attributes: scaled });
        cut(das, 0, (rank) => [rank, x.shape[1]]).forEach((da, i) => (dWeights[2 * i] = da));
        parts.forEach(({ b }, i) => {
          // The short side is turned round, not the gradient of a whole output.
          const turned = g.node1('Gemm', [flip(g, lows[i]), slopes[i]], float([ranks[i], b.shape[0]]));
          dWeights[2 * i + 1] = flip(g, turned);
        });
      }
      return [dx, ...dWeights, ...added.map((i) => gradients[i])];
    },
  });
  return outputs;
}
