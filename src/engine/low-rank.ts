// Low-rank adapters as differentiable operations, W x + scale B A x, in two ways that give the same numbers up to rounding:
// beside the product, for few rows, or folded into the matrix first, for many. The A of matrices that read the same x
// are one product, and the scale rides on the small products, where it costs nothing. Letters: M rows, R rank, n adapters.

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

export type AdaptedPart = LowRankPart & {
  /** [out, in], frozen. */
  readonly matrix: Value;
};

const float = (shape: Shape): Omit<Value, 'name'> => ({ type: 'float32', shape });

/** scale x A_i^T B_i^T (+ residual_i), [M, out_i] each, for x[M, in]. */
export function lowRank(g: Graph, x: Value, parts: readonly LowRankPart[], scale: number): Value[] {
  const joined = joinedAdapters(g, x, parts, scale);
  const outputs = parts.map(({ b, residual }, i) =>
    g.node1('Gemm', [joined.lows[i], b, residual], float([x.shape[0], b.shape[0]]), { attributes: { transB: 1 } }),
  );
  recordParts(g, x, parts, outputs, (slopes, needX, needWeights) => {
    const { slope, ofWeights } = joined.gradients(slopes, needWeights);
    const attributes = { alpha: { float: scale } };
    return {
      dx: needX ? g.node1('Gemm', [slope, joined.matrix], float(x.shape), { attributes }) : undefined,
      ofWeights,
    };
  });
  return outputs;
}

/**
 * x (W_i + scale B_i A_i)^T (+ residual_i), [M, out_i] each, for x[M, in]: the matrices are made for this call, which at
 * rank 16 costs as much as 70 rows of the product, and saves a pass over every output forth and back.
 */
export function foldedLinear(g: Graph, x: Value, parts: readonly AdaptedPart[], scale: number): Value[] {
  const attributes = { alpha: { float: scale } };
  const folded = parts.map(({ matrix, a, b }) => g.node1('Gemm', [b, a, matrix], float(matrix.shape), { attributes }));
  const outputs = parts.map(({ b, residual }, i) =>
    g.node1('Gemm', [x, folded[i], residual], float([x.shape[0], b.shape[0]]), { attributes: { transB: 1 } }),
  );
  recordParts(g, x, parts, outputs, (slopes, needX, needWeights) => {
    const { ofWeights } = joinedAdapters(g, x, parts, scale).gradients(slopes, needWeights);
    const dx = needX
      ? folded.reduce<Value | undefined>(
          (sum, matrix, i) => g.node1('Gemm', [slopes[i], matrix, sum], float(x.shape)),
          undefined,
        )
      : undefined;
    return { dx, ofWeights };
  });
  return outputs;
}

type PartGradients = {
  readonly dx: Value | undefined;
  /** Of a and b of each part in turn. */
  readonly ofWeights: readonly (Value | undefined)[];
};

/** Records how outputs, one a part, lead back to x, adapters and residuals. */
function recordParts(
  g: Graph,
  x: Value,
  parts: readonly LowRankPart[],
  outputs: readonly Value[],
  backward: (slopes: readonly Value[], needX: boolean, needWeights: boolean) => PartGradients,
): void {
  const added = parts.flatMap(({ residual }, i) => (residual ? [i] : []));
  const weights = parts.flatMap(({ a, b }) => [a, b]);
  g.record({
    inputs: [x, ...weights, ...added.map((i) => parts[i].residual!)],
    outputs,
    backward: (gradients, [needX, ...needs]) => {
      const zero = (i: number): Value => g.node1('Mul', [outputs[i], g.scalar(0)], float(outputs[i].shape));
      const slopes = parts.map((_, i) => gradients[i] ?? zero(i));
      const { dx, ofWeights } = backward(slopes, needX, needs.slice(0, weights.length).includes(true));
      return [dx, ...ofWeights, ...added.map((i) => gradients[i])];
    },
  });
}

/** The adapters of what reads one x: scale x A_i^T, and gradients from those of the outputs. */
function joinedAdapters(g: Graph, x: Value, parts: readonly LowRankPart[], scale: number) {
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
  /** `slope` [M, R n] is that by x A^T, for the gradient of x. */
  const gradients = (
    slopes: readonly Value[],
    needed: boolean,
  ): { readonly slope: Value; readonly ofWeights: readonly (Value | undefined)[] } => {
    const lowSlopes = parts.map(({ b }, i) => g.node1('Gemm', [slopes[i], b], float([rows, ranks[i]])));
    const slope = join(lowSlopes, 1, [rows, total]);
    if (!needed) return { slope, ofWeights: parts.flatMap(() => [undefined, undefined]) };
    const das = g.node1('Gemm', [flip(g, slope), x], float(matrix.shape), { attributes: scaled });
    const ofA = cut(das, 0, (rank) => [rank, x.shape[1]]);
    const ofWeights = parts.flatMap(({ b }, i) => {
      // The short side is turned round, not the gradient of a whole output.
      const turned = g.node1('Gemm', [flip(g, lows[i]), slopes[i]], float([ranks[i], b.shape[0]]));
      return [ofA[i], flip(g, turned)];
    });
    return { slope, ofWeights };
  };
  return { matrix, lows, gradients };
}
