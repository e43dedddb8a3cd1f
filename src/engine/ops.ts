// The differentiable operations that the models are made of: each emits its forward nodes and records how to go
// back. Letters: M rows (batch x time), B batch, H heads, T time, D head size, C channels, V vocabulary, N answers.
// Fused kernels of ONNX Runtime are used where they exist (com.microsoft domain of its ContribOperators.md).

import { sameShape, type Dim, type Graph, type Shape, type Value } from './graph.ts';

const MS = { domain: 'com.microsoft' } as const;
const float = (shape: Shape): Omit<Value, 'name'> => ({ type: 'float32', shape });

/**
 * y_i[M, out_i] = x[M, in] w_i[out_i, in]^T (+ residual_i[M, out_i]) for matrices that read the same x. One Gemm each
 * forward, one per wanted gradient back; those by x add up in the Gemms.
 */
export function linear(
  g: Graph,
  x: Value,
  matrices: readonly Value[],
  residuals: readonly (Value | undefined)[] = [],
): Value[] {
  const outputs = matrices.map((w, i) =>
    g.node1('Gemm', [x, w, residuals[i]], float([x.shape[0], w.shape[0]]), { attributes: { transB: 1 } }),
  );
  const added = matrices.flatMap((_, i) => (residuals[i] ? [i] : []));
  g.record({
    inputs: [x, ...matrices, ...added.map((i) => residuals[i]!)],
    outputs,
    backward: (gradients, [needX, ...needOthers]) => {
      const used = matrices.flatMap((_, i) => (gradients[i] ? [i] : []));
      const dx = needX
        ? used.reduce<Value | undefined>(
            (sum, i) => g.node1('Gemm', [gradients[i], matrices[i], sum], float(x.shape)),
            undefined,
          )
        : undefined;
      const dw = matrices.map((w, i) =>
        needOthers[i] && gradients[i] ? g.node1('Gemm', [flip(g, gradients[i]), x], float(w.shape)) : undefined,
      );
      return [dx, ...dw, ...added.map((i) => gradients[i])];
    },
  });
  return outputs;
}

/**
 * x[M, C] as [C, M]. A product is a sixth faster over a transposed copy than over rows read across, so the runtime must
 * not see a plain transpose, which it would merge into the product.
 */
export function flip(g: Graph, x: Value): Value {
  const [rows, columns] = x.shape;
  const cube = g.node1('Unsqueeze', [x, g.constant('int64', [1], [0])], float([1, rows, columns]));
  const flipped = g.node1('Transpose', [cube], float([1, columns, rows]), { attributes: { perm: [0, 2, 1] } });
  return g.node1('Squeeze', [flipped, g.constant('int64', [1], [0])], float([columns, rows]));
}

export type MatmulOptions = {
  readonly transA?: boolean;
  readonly transB?: boolean;
  /** Factor on the product, default 1. */
  readonly scale?: number;
};

/** Batched product over the last two axes with optional transposes and scale: scale * op(a) op(b). */
export function matmul(g: Graph, a: Value, b: Value, options: MatmulOptions = {}): Value {
  const { transA = false, transB = false, scale = 1 } = options;
  const product = (p: Value, q: Value, tp: boolean, tq: boolean): Value =>
    batchedProduct(g, p, q, { transA: tp, transB: tq, scale });
  const y = product(a, b, transA, transB);
  g.record({
    inputs: [a, b],
    outputs: [y],
    backward: ([dy], [needA, needB]) => [
      needA ? (transA ? product(b, dy!, transB, true) : product(dy!, b, false, !transB)) : undefined,
      needB ? (transB ? product(dy!, a, true, transA) : product(a, dy!, !transA, false)) : undefined,
    ],
  });
  return y;
}

/**
 * `matmul` as a node alone, for operations that know their own way back. With `rowsFirst` the rows of b stand before its
 * batch axes, b[T, B, H, D] for [B, H, T, D].
 */
export function batchedProduct(
  g: Graph,
  a: Value,
  b: Value,
  {
    transA = false,
    transB = false,
    scale = 1,
    rowsFirst = false,
  }: MatmulOptions & { readonly rowsFirst?: boolean } = {},
): Value {
  const rank = a.shape.length;
  const second = rowsFirst ? [...b.shape.slice(1, rank - 1), b.shape[0], b.shape[rank - 1]] : b.shape;
  const shape = [...a.shape.slice(0, rank - 2), a.shape[rank - (transA ? 1 : 2)], second[rank - (transB ? 2 : 1)]];
  const flags = { transA, transB, transBatchB: rowsFirst };
  const attributes = Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, flag ? 1 : 0]));
  return g.node1('FusedMatMul', [a, b], float(shape), {
    attributes: { ...attributes, alpha: { float: scale } },
    ...MS,
  });
}

/** Root-mean-square norm over the last axis (Zhang and Sennrich 2019): y = w x / sqrt(mean(x^2) + eps). */
export function rmsNorm(g: Graph, x: Value, w: Value, eps: number): Value {
  const last = x.shape.length - 1;
  const perRow = [...x.shape.slice(0, last), 1];
  const attributes = { axis: -1, epsilon: { float: eps }, stash_type: 1 };
  const [y, inverse] = g.node('SimplifiedLayerNormalization', [x, w], [float(x.shape), float(perRow)], {
    attributes,
  }) as [Value, Value];
  g.record({
    inputs: [x, w],
    outputs: [y],
    // With r = 1 / sqrt(mean(x^2) + eps) and p = dy x r: dw = sum of p over rows, dx = r (dy w - x r mean(p w)).
    backward: ([dy], [needX, needW]) => {
      const product = (a: Value, b: Value): Value => g.node1('Mul', [a, b], float(x.shape));
      const scaled = product(product(dy!, x), inverse);
      const dw = needW ? reduceTo(g, scaled, w.shape) : undefined;
      if (!needX) return [undefined, dw];
      const channels = w.shape[0] as number;
      const column = g.node1('Reshape', [w, g.constant('int64', [2], [channels, 1])], float([channels, 1]));
      const sum = g.node1('MatMul', [scaled, column], float(perRow));
      const mean = g.node1('Mul', [sum, g.scalar(1 / channels)], float(perRow));
      const along = product(x, g.node1('Mul', [mean, inverse], float(perRow)));
      return [product(g.node1('Sub', [product(dy!, w), along], float(x.shape)), inverse), dw];
    },
  });
  return y;
}

export type RopeTables = { readonly positions: Value; readonly cos: Value; readonly sin: Value };

/** Rotary positions on x[B, H, T, D], halves layout (Su et al. 2021). The way back is the rotation by minus the angle. */
export function rope(g: Graph, x: Value, { positions, cos, sin }: RopeTables): Value {
  const rotate = (value: Value, sine: Value): Value =>
    g.node1('RotaryEmbedding', [value, positions, cos, sine], float(x.shape), MS);
  const y = rotate(x, sin);
  g.record({
    inputs: [x],
    outputs: [y],
    backward: ([dy]) => [rotate(dy!, g.node1('Neg', [sin], float(sin.shape)))],
  });
  return y;
}

/** Gated unit silu(gate) * up (Shazeer 2020). */
export function swiglu(g: Graph, gate: Value, up: Value): Value {
  const op = (name: string, ...inputs: Value[]): Value => g.node1(name, inputs, float(gate.shape));
  const sigmoid = op('Sigmoid', gate);
  const silu = op('Mul', gate, sigmoid);
  const y = op('Mul', silu, up);
  g.record({
    inputs: [gate, up],
    outputs: [y],
    backward: ([dy]) => {
      // dGate = dy up (s + silu (1 - s)) with s = sigmoid(gate), and silu up = y.
      const dGate = op('Mul', dy!, op('Add', y, op('Mul', sigmoid, op('Sub', up, y))));
      return [dGate, op('Mul', dy!, silu)];
    },
  });
  return y;
}

/** Gated unit gelu(gate) * up with the tanh form of gelu (Hendrycks and Gimpel 2016). */
export function geglu(g: Graph, gate: Value, up: Value): Value {
  const op = (name: string, ...inputs: Value[]): Value => g.node1(name, inputs, float(gate.shape));
  const gelu = g.node1('Gelu', [gate], float(gate.shape), { attributes: { approximate: 'tanh' } });
  const y = op('Mul', gelu, up);
  g.record({
    inputs: [gate, up],
    outputs: [y],
    backward: ([dy]) => {
      // With u = a (x + b x^3) and t = tanh(u): gelu = x (1 + t) / 2, gelu' = (1 + t) / 2 + x (1 - t^2) a (1 + 3 b x^2) / 2.
      const [a, b] = [Math.sqrt(2 / Math.PI), 0.044715];
      const square = op('Mul', gate, gate);
      const inner = op('Mul', gate, op('Add', op('Mul', square, g.scalar(a * b)), g.scalar(a)));
      const t = op('Tanh', inner);
      const half = op('Add', op('Mul', t, g.scalar(0.5)), g.scalar(0.5));
      const slope = op('Add', op('Mul', square, g.scalar(1.5 * a * b)), g.scalar(0.5 * a));
      const bend = op('Sub', g.scalar(1), op('Mul', t, t));
      const derivative = op('Add', half, op('Mul', op('Mul', gate, bend), slope));
      return [op('Mul', op('Mul', dy!, up), derivative), op('Mul', dy!, gelu)];
    },
  });
  return y;
}

/** c tanh(x / c), which keeps x within c. */
export function softcap(g: Graph, x: Value, c: number): Value {
  const op = (name: string, ...inputs: Value[]): Value => g.node1(name, inputs, float(x.shape));
  const t = op('Tanh', op('Mul', x, g.scalar(1 / c)));
  const y = op('Mul', t, g.scalar(c));
  g.record({
    inputs: [x],
    outputs: [y],
    backward: ([dy]) => [op('Mul', dy!, op('Sub', g.scalar(1), op('Mul', t, t)))],
  });
  return y;
}

/** Rows of table[V, C] by ids of any shape, flattened: [M, C]. */
export function embedding(g: Graph, table: Value, ids: Value, rows: Dim): Value {
  const channels = table.shape[1];
  const flat = g.node1('Reshape', [ids, g.constant('int64', [1], [-1])], { type: 'int64', shape: [rows] });
  const y = g.node1('Gather', [table, flat], float([rows, channels]), { attributes: { axis: 0 } });
  g.record({
    inputs: [table],
    outputs: [y],
    backward: ([dy]) => {
      // ScatterND would be faster, but its threads race where an id occurs twice; this runs on one.
      const index = { type: 'int64', shape: [rows, channels] } as const;
      const column = g.node1('Unsqueeze', [flat, g.constant('int64', [1], [1])], { type: 'int64', shape: [rows, 1] });
      const sizes = g.node1('Shape', [y], { type: 'int64', shape: [2] });
      const zeros = g.node1('ConstantOfShape', [g.shapeVector(table.shape)], float(table.shape));
      const attributes = { axis: 0, reduction: 'add' };
      return [
        g.node1('ScatterElements', [zeros, g.node1('Expand', [column, sizes], index), dy], float(table.shape), {
          attributes,
        }),
      ];
    },
  });
  return y;
}

/** Rows of x[M, C] by index[N]; no index may occur twice (the gradient overwrites). */
export function gatherRows(g: Graph, x: Value, index: Value): Value {
  const shape = [index.shape[0], ...x.shape.slice(1)];
  const y = g.node1('Gather', [x, index], float(shape), { attributes: { axis: 0 } });
  g.record({
    inputs: [x],
    outputs: [y],
    backward: ([dy]) => {
      const sizes = g.node1('Shape', [x], { type: 'int64', shape: [x.shape.length] });
      const zeros = g.node1('ConstantOfShape', [sizes], float(x.shape));
      const column = g.node1('Unsqueeze', [index, g.constant('int64', [1], [1])], {
        type: 'int64',
        shape: [index.shape[0], 1],
      });
      return [g.node1('ScatterND', [zeros, column, dy], float(x.shape))];
    },
  });
  return y;
}

/** Log-probability of targets[N] under logits[N, V]: [N]. */
export function targetLogprobs(g: Graph, logits: Value, targets: Value): Value {
  const count = logits.shape[0];
  const axis = g.constant('int64', [1], [1]);
  const { y, logSoftmax, column } = pickLogprobs(g, logits, targets);
  g.record({
    inputs: [logits],
    outputs: [y],
    backward: ([dy]) => {
      const upstream = g.node1('Unsqueeze', [dy, axis], float([count, 1]));
      const down = g.node1('Neg', [upstream], float([count, 1]));
      const negative = g.node1('Mul', [g.node1('Exp', [logSoftmax], float(logits.shape)), down], float(logits.shape));
      const attributes = { axis: 1, reduction: 'add' };
      return [g.node1('ScatterElements', [negative, column, upstream], float(logits.shape), { attributes })];
    },
  });
  return y;
}

/** The nodes of `targetLogprobs` alone, for operations that know their own way back; `column` is the targets [N, 1]. */
export function pickLogprobs(
  g: Graph,
  logits: Value,
  targets: Value,
): { readonly y: Value; readonly logSoftmax: Value; readonly column: Value } {
  const count = logits.shape[0];
  const axis = g.constant('int64', [1], [1]);
  const logSoftmax = g.node1('LogSoftmax', [logits], float(logits.shape), { attributes: { axis: -1 } });
  const column = g.node1('Unsqueeze', [targets, axis], { type: 'int64', shape: [count, 1] });
  const picked = g.node1('GatherElements', [logSoftmax, column], float([count, 1]), { attributes: { axis: 1 } });
  return { y: g.node1('Squeeze', [picked, axis], float([count])), logSoftmax, column };
}

export function reshape(g: Graph, x: Value, shape: Shape): Value {
  const emit = (value: Value, to: Shape): Value => g.node1('Reshape', [value, g.shapeVector(to)], float(to));
  const y = emit(x, shape);
  g.record({ inputs: [x], outputs: [y], backward: ([dy]) => [emit(dy!, x.shape)] });
  return y;
}

export function transpose(g: Graph, x: Value, axes: readonly number[]): Value {
  const emit = (value: Value, order: readonly number[]): Value =>
    g.node1('Transpose', [value], float(order.map((axis) => value.shape[axis])), { attributes: { perm: order } });
  const y = emit(x, axes);
  const inverse = axes.map((_, axis) => axes.indexOf(axis));
  g.record({ inputs: [x], outputs: [y], backward: ([dy]) => [emit(dy!, inverse)] });
  return y;
}

/** x[B, T, C] moved `distance` places towards later time, zeros coming in at the start. */
export function shiftTime(g: Graph, x: Value, distance: number): Value {
  if (distance === 0) return x;
  // A negative pad crops.
  const move = (value: Value, by: number): Value =>
    g.node1('Pad', [value, g.constant('int64', [6], [0, by, 0, 0, -by, 0])], float(x.shape));
  const y = move(x, distance);
  g.record({ inputs: [x], outputs: [y], backward: ([dy]) => [move(dy!, -distance)] });
  return y;
}

/** Parts of `x` along `axis` with the given sizes. A part that nobody uses counts as zero on the way back. */
export function split(g: Graph, x: Value, axis: number, sizes: readonly number[]): Value[] {
  const shapes = sizes.map((size) => x.shape.map((dim, i) => (i === axis ? size : dim)));
  const parts = g.node('Split', [x, g.constant('int64', [sizes.length], sizes)], shapes.map(float), {
    attributes: { axis },
  });
  g.record({
    inputs: [x],
    outputs: parts,
    backward: (gradients) => {
      const filled = gradients.map((dy, i) => dy ?? g.node1('Mul', [parts[i], g.scalar(0)], float(shapes[i])));
      return [g.node1('Concat', filled, float(x.shape), { attributes: { axis } })];
    },
  });
  return parts;
}

export function concat(g: Graph, parts: readonly Value[], axis: number, total: Dim): Value {
  const shape = parts[0].shape.map((dim, i) => (i === axis ? total : dim));
  const y = g.node1('Concat', parts, float(shape), { attributes: { axis } });
  g.record({
    inputs: parts,
    outputs: [y],
    backward: ([dy]) => {
      const sizes = parts.map((part) => part.shape[axis] as number);
      return g.node(
        'Split',
        [dy, g.constant('int64', [sizes.length], sizes)],
        parts.map((part) => float(part.shape)),
        { attributes: { axis } },
      );
    },
  });
  return y;
}

/** a + b with broadcasting. */
export function add(g: Graph, a: Value, b: Value): Value {
  return binary(g, 'Add', a, b, (dy) => [dy, dy]);
}

/** a - b with broadcasting. */
export function sub(g: Graph, a: Value, b: Value): Value {
  return binary(g, 'Sub', a, b, (dy) => [dy, g.node1('Neg', [dy], float(dy.shape))]);
}

/** a * b with broadcasting. */
export function mul(g: Graph, a: Value, b: Value): Value {
  return binary(g, 'Mul', a, b, (dy) => [
    g.node1('Mul', [dy, b], float(dy.shape)),
    g.node1('Mul', [dy, a], float(dy.shape)),
  ]);
}

/** Smaller of a and b, elementwise; on a tie the gradient goes to `a`. */
export function minimum(g: Graph, a: Value, b: Value): Value {
  return binary(g, 'Min', a, b, (dy) => {
    const first = g.node1('LessOrEqual', [a, b], { type: 'bool', shape: dy.shape });
    const zero = g.scalar(0);
    return [g.node1('Where', [first, dy, zero], float(dy.shape)), g.node1('Where', [first, zero, dy], float(dy.shape))];
  });
}

export function exp(g: Graph, x: Value): Value {
  const y = g.node1('Exp', [x], float(x.shape));
  g.record({ inputs: [x], outputs: [y], backward: ([dy]) => [g.node1('Mul', [dy, y], float(x.shape))] });
  return y;
}

/** x limited to [low, high] (scalar values); the gradient is zero where a limit holds. */
export function clip(g: Graph, x: Value, low: Value, high: Value): Value {
  const y = g.node1('Clip', [x, low, high], float(x.shape));
  g.record({
    inputs: [x],
    outputs: [y],
    backward: ([dy]) => {
      const inside = g.node1('Equal', [x, y], { type: 'bool', shape: x.shape });
      return [g.node1('Where', [inside, dy, g.scalar(0)], float(x.shape))];
    },
  });
  return y;
}

/** The value of x, treated as a constant on the way back. */
export function stopGradient(g: Graph, x: Value): Value {
  return g.node1('Identity', [x], { type: x.type, shape: x.shape });
}

function binary(g: Graph, op: string, a: Value, b: Value, backward: (dy: Value) => readonly [Value, Value]): Value {
  const shape = broadcast(a.shape, b.shape);
  const y = g.node1(op, [a, b], float(shape));
  g.record({
    inputs: [a, b],
    outputs: [y],
    backward: ([dy], [needA, needB]) => {
      const [da, db] = backward(dy!);
      return [needA ? reduceTo(g, da, a.shape) : undefined, needB ? reduceTo(g, db, b.shape) : undefined];
    },
  });
  return y;
}

function broadcast(a: Shape, b: Shape): Shape {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const p = a[i - rank + a.length] ?? 1;
    const q = b[i - rank + b.length] ?? 1;
    if (p !== q && p !== 1 && q !== 1)
      throw new Error(`internal: shapes [${a.join()}] and [${b.join()}] do not broadcast`);
    return p === 1 ? q : p;
  });
}

/** Sums a gradient over the axes along which its value was repeated. */
function reduceTo(g: Graph, gradient: Value, shape: Shape): Value {
  if (sameShape(gradient.shape, shape)) return gradient;
  const lead = gradient.shape.length - shape.length;
  const axes = gradient.shape
    .map((_, i) => i)
    .filter((i) => i < lead || (shape[i - lead] === 1 && gradient.shape[i] !== 1));
  const kept = gradient.shape.map((dim, i) => (axes.includes(i) ? 1 : dim));
  const summed = g.node1('ReduceSum', [gradient, g.constant('int64', [axes.length], axes)], float(kept), {
    attributes: { keepdims: 1 },
  });
  return lead === 0 ? summed : g.node1('Reshape', [summed, g.shapeVector(shape)], float(shape));
}
