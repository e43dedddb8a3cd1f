// Shared by the engine's tests: running a small graph once, and gradients by central differences.

import { gradients } from './autodiff.ts';
import { Graph, type Value } from './graph.ts';
import type { ModelConfig } from './model-config.ts';
import { mul } from './ops.ts';
import { Session, type Feeds } from './session.ts';
import { createRng } from '../util/index.ts';
import type { Datum } from '../core/index.ts';

export type Matrix = { readonly shape: readonly number[]; readonly data: Float32Array };

export const TINY: ModelConfig = {
  vocabSize: 23,
  hiddenSize: 16,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  intermediateSize: 20,
  ropeTheta: 100,
  rmsNormEps: 1e-5,
  tieEmbeddings: true,
  taps: 1,
  maxPositions: 48,
};

/** Uniform numbers in [-1, 1), away from zero by `gap` so that kinks are not straddled. */
export function randomMatrix(seed: string, shape: readonly number[], gap = 0): Matrix {
  const rng = createRng(seed);
  const size = shape.reduce((a, b) => a * b, 1);
  const draw = (): number => {
    const value = 2 * rng.next() - 1;
    return Math.abs(value) < gap ? value + Math.sign(value || 1) * gap : value;
  };
  return { shape, data: Float32Array.from({ length: size }, draw) };
}

export type OpCheck = {
  /** Differentiable float inputs, by name. */
  readonly inputs: Readonly<Record<string, Matrix>>;
  /** Further inputs that are not differentiated: int64 vectors. */
  readonly integers?: Readonly<Record<string, readonly number[]>>;
  readonly build: (g: Graph, value: (name: string) => Value) => Value;
};

/**
 * Largest difference between the gradient of sum(c * op(inputs)), c fixed and random, and central differences of the
 * same, relative to the largest gradient entry.
 */
export async function gradientError({ inputs, integers = {}, build }: OpCheck): Promise<number> {
  const g = new Graph();
  const values = new Map<string, Value>();
  for (const [name, { shape }] of Object.entries(inputs)) values.set(name, g.input(name, 'float32', shape));
  for (const [name, data] of Object.entries(integers)) values.set(name, g.input(name, 'int64', [data.length]));
  const result = build(g, (name) => values.get(name)!);
  const shape = result.shape as readonly number[];
  const c = randomMatrix('weights of the sum', shape);
  const weighted = mul(g, result, g.constant('float32', shape, [...c.data]));
  g.output('sum', g.node1('ReduceSum', [weighted], { type: 'float32', shape: [] }, { attributes: { keepdims: 0 } }));
  const names = Object.keys(inputs);
  gradients(
    g,
    weighted,
    names.map((name) => values.get(name)!),
  ).forEach((gradient, i) => g.output(`gradient.${names[i]}`, gradient));
  const session = await Session.compile(g, { threads: 1 });
  const feeds = (changed: Readonly<Record<string, Matrix>>): Feeds => ({
    ...changed,
    ...Object.fromEntries(
      Object.entries(integers).map(([name, data]) => [
        name,
        { data: BigInt64Array.from(data, BigInt), shape: [data.length] },
      ]),
    ),
  });
  const analytic = await session.run(feeds(inputs));
  let worst = 0;
  let largest = 1e-6;
  const step = 2 ** -7;
  for (const name of names) {
    const base = inputs[name];
    for (let i = 0; i < base.data.length; i++) {
      const at = async (delta: number): Promise<number> => {
        const data = base.data.slice();
        data[i] += delta;
        return (await session.run(feeds({ ...inputs, [name]: { ...base, data } })))['sum'][0];
      };
      // Fourth-order central difference: the error of the rule itself stays below single precision.
      const numeric =
        (8 * ((await at(step)) - (await at(-step))) - ((await at(2 * step)) - (await at(-2 * step)))) / (12 * step);
      const exact = analytic[`gradient.${name}`][i];
      worst = Math.max(worst, Math.abs(numeric - exact));
      largest = Math.max(largest, Math.abs(exact));
    }
  }
  await session.release();
  return worst / largest;
}

/** Random rows with random real weights, negative ones included. */
export function randomData(seed: string, lengths: readonly number[], vocabulary: number): Datum[] {
  const rng = createRng(seed);
  return lengths.map((length) => {
    const tokens = Array.from({ length: length + 1 }, () => rng.integer(0, vocabulary));
    const weights = Array.from({ length }, () => Math.fround(2 * rng.next() - 0.7));
    return { tokens: tokens.slice(0, -1), lossInputs: { targetTokens: tokens.slice(1), weights } };
  });
}

/** `policyGradientData` with the mask that gspo reads: the first third of each row is not counted. */
export function sequenceRatioData(data: readonly Datum[], logprobs: readonly ArrayLike<number>[]): Datum[] {
  return policyGradientData(data, logprobs).map(({ tokens, lossInputs }) => {
    const mask = tokens.map((_, i) => (i < tokens.length / 3 ? 0 : 1));
    return {
      tokens,
      lossInputs: {
        ...lossInputs,
        logprobs: lossInputs.logprobs!.map((q, i) => (mask[i] ? q : 0)),
        advantages: lossInputs.advantages!.map((a, i) => (mask[i] ? a : 0)),
        sequenceRatioMask: mask,
      },
    };
  });
}

/** The same rows for a loss that reads sampler log-probabilities and advantages. */
export function policyGradientData(data: readonly Datum[], logprobs: readonly ArrayLike<number>[]): Datum[] {
  const rng = createRng('sampler');
  return data.map(({ tokens, lossInputs }, row) => ({
    tokens,
    lossInputs: {
      targetTokens: lossInputs.targetTokens,
      // Ratios on both sides of the clipping bounds.
      logprobs: tokens.map((_, i) => Math.fround(logprobs[row][i] + 1.2 * (rng.next() - 0.5))),
      advantages: tokens.map(() => Math.fround(2 * rng.next() - 1)),
    },
  }));
}
