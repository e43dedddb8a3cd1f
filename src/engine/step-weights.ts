// The weights of the decoding step, which are constants of its graph: as they are, or its matrices rounded to 4 or 8 bits
// for products that read less memory. Rounded weights are for decoding alone; everything else keeps the whole ones.

import { TabwrightError } from '../core/index.ts';
import type { Graph, Shape, Value } from './graph.ts';
import { elements, type Weights } from './weights.ts';

/** `q4`: matrices of the layers in 4 bits, the head's in 8. `q8`: all of them in 8. */
export const DECODE_WEIGHTS = ['f32', 'q8', 'q4'] as const;
export type DecodeWeights = (typeof DECODE_WEIGHTS)[number];

const BLOCK = 32;
/** Bytes that a constant's place is a multiple of. */
const ALIGNMENT = 64;

export interface StepWeights {
  has(name: string): boolean;
  /** Of matrices or vectors that lie one after the other. */
  shape(names: readonly string[]): readonly number[];
  /** Weights that lie one after the other, as one. */
  vector(g: Graph, names: readonly string[]): Value;
  /** x W^T + sum for x [B, in] and matrices [out, in] that lie one after the other. */
  product(g: Graph, x: Value, names: readonly string[], sum?: Value): Value;
  /** The same, a value a matrix: one product each where cutting a common one up would cost more. */
  parts(g: Graph, x: Value, names: readonly string[], sum?: Value): Value[];
  /** What the constants lie in, once the graph is made. */
  bytes(): Uint8Array;
}

/** Refuses matrices that do not divide into blocks. */
export function checkDecodeWeights({ specs }: Weights, kind: DecodeWeights): void {
  const odd = specs.find(({ shape }) => shape.length === 2 && shape[1] % BLOCK !== 0);
  if (kind === 'f32' || odd === undefined) return;
  const message = `${kind} keeps weights in blocks of ${BLOCK}, and ${odd.tensor} is ${odd.shape[1]} wide; decode with f32.`;
  throw new TabwrightError('backend', message, { code: 'bad-decode-weights', details: { kind, tensor: odd.tensor } });
}

export function stepWeights(weights: Weights, kind: DecodeWeights): StepWeights {
  return kind === 'f32' ? plainWeights(weights) : roundedWeights(weights, kind === 'q4' ? 4 : 8);
}

type Place = { readonly at: number; readonly shape: readonly number[] };

/** Where several weights lie that follow each other; places and sizes in floats. */
function placing({ specs }: Weights) {
  const places = new Map<string, Place>();
  let at = 0;
  for (const { name, shape } of specs) {
    places.set(name, { at, shape });
    at += elements(shape);
  }
  return {
    has: (name: string) => places.has(name),
    span: (names: readonly string[]): Place & { readonly size: number } => {
      const parts = names.map((name) => places.get(name)!);
      const rows = parts.reduce((sum, { shape }) => sum + shape[0], 0);
      const shape = [rows, ...parts[0].shape.slice(1)];
      return { at: parts[0].at, shape, size: elements(shape) };
    },
  };
}

function plainWeights(weights: Weights): StepWeights {
  const { has, span } = placing(weights);
  const heights = (names: readonly string[]): number[] => names.map((name) => span([name]).shape[0]);
  const stored = (g: Graph, names: readonly string[]): Value => {
    const { at, shape, size } = span(names);
    return g.external('float32', shape, { at: 4 * at, bytes: 4 * size });
  };
  return {
    has,
    shape: (names) => span(names).shape,
    vector: stored,
    product: (g, x, names, sum) => gemm(g, x, stored(g, names), sum),
    parts: (g, x, names, sum) => {
      const sums = sum ? cut(g, sum, heights(names)) : [];
      return names.map((name, i) => gemm(g, x, stored(g, [name]), sums[i]));
    },
    bytes: () => bytesOf(weights.flat),
  };
}

/** x [B, D] in columns of those widths. */
function cut(g: Graph, x: Value, widths: readonly number[]): Value[] {
  const parts = widths.map((width) => float([x.shape[0], width]));
  return g.node('Split', [x, g.constant('int64', [widths.length], widths)], parts, { attributes: { axis: 1 } });
}

/** x W^T + sum. */
export function gemm(g: Graph, x: Value, w: Value, sum?: Value): Value {
  return g.node1('Gemm', [x, w, sum], float([x.shape[0], w.shape[0]]), { attributes: { transB: 1 } });
}

function roundedWeights(weights: Weights, bits: 4 | 8): StepWeights {
  const { has, span } = placing(weights);
  const parts: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  let length = 0;
  const external = (g: Graph, type: 'float32' | 'uint8', shape: readonly number[], bytes: Uint8Array): Value => {
    const value = g.external(type, shape, { at: length, bytes: bytes.length });
    parts.push({ at: length, bytes });
    length += ALIGNMENT * Math.ceil(bytes.length / ALIGNMENT);
    return value;
  };
  const product: StepWeights['product'] = (g, x, names, sum) => {
    const { at, shape, size } = span(names);
    const [rows, width] = shape;
    const own = names.some((name) => name === 'head' || name === 'embed') ? 8 : bits;
    const { values, scales, offsets } = roundBlocks(weights.flat.subarray(at, at + size), own);
    const blocks = width / BLOCK;
    const inputs = [
      x,
      external(g, 'uint8', [rows, blocks, (BLOCK * own) / 8], values),
      external(g, 'float32', [rows * blocks], bytesOf(scales)),
    ];
    const attributes = { K: width, N: rows, bits: own, block_size: BLOCK, accuracy_level: 4 };
    const y = g.node1('MatMulNBits', inputs, float([x.shape[0], rows]), { attributes, domain: 'com.microsoft' });
    // What a block's weights have in common is multiplied by the sum of what they would be.
    const inBlocks = g.node1(
      'Reshape',
      [x, g.constant('int64', [3], [0, blocks, BLOCK])],
      float([x.shape[0], blocks, BLOCK]),
    );
    const sums = g.node1('ReduceSum', [inBlocks, g.constant('int64', [1], [2])], float([x.shape[0], blocks]), {
      attributes: { keepdims: 0 },
    });
    const shared = gemm(g, sums, external(g, 'float32', [rows, blocks], bytesOf(offsets)), sum);
    return g.node1('Add', [shared, y], float(y.shape));
  };
  return {
    has,
    shape: (names) => span(names).shape,
    vector: (g, names) => {
      const { at, shape, size } = span(names);
      return external(g, 'float32', shape, bytesOf(weights.flat.subarray(at, at + size)));
    },
    product,
    parts: (g, x, names, sum) => {
      const heights = names.map((name) => span([name]).shape[0]);
      return cut(g, product(g, x, names, sum), heights);
    },
    bytes: () => {
      const all = new Uint8Array(length);
      for (const { at, bytes } of parts) all.set(bytes, at);
      return all;
    },
  };
}

export type RoundedBlocks = {
  /** Two to a byte with 4 bits, the first one low. */
  readonly values: Uint8Array;
  /** One a block. */
  readonly scales: Float32Array;
  readonly offsets: Float32Array;
};

/**
 * Weights to scale x (value - the middle value) + offset in blocks, each over the range that its weights take; those of a
 * file that keeps them so come out as they were.
 */
export function roundBlocks(weights: Float32Array, bits: 4 | 8): RoundedBlocks {
  const most = 2 ** bits - 1;
  const middle = 2 ** (bits - 1);
  const values = new Uint8Array((weights.length * bits) / 8);
  const scales = new Float32Array(weights.length / BLOCK);
  const offsets = new Float32Array(scales.length);
  for (let block = 0; block < scales.length; block++) {
    const start = block * BLOCK;
    let low = Infinity;
    let high = -Infinity;
    for (let i = start; i < start + BLOCK; i++) {
      const weight = weights[i];
      if (weight < low) low = weight;
      if (weight > high) high = weight;
    }
    const scale = Math.fround((high - low) / most) || 1;
    scales[block] = scale;
    offsets[block] = low + scale * middle;
    for (let i = start; i < start + BLOCK; i++) {
      const value = Math.min(most, Math.max(0, Math.round((weights[i] - low) / scale)));
      if (bits === 8) values[i] = value;
      else values[i >> 1] |= value << (4 * (i & 1));
    }
  }
  return { values, scales, offsets };
}

function float(shape: Shape): { readonly type: 'float32'; readonly shape: Shape } {
  return { type: 'float32', shape };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
