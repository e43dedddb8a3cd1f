// Adam with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019) on one flat buffer.

import { TabwrightError, type AdamParams } from '../core/index.ts';

export type AdamState = {
  /** First and second moments, one per weight. */
  readonly first: Float32Array;
  readonly second: Float32Array;
  /** Steps taken, for bias correction. */
  step: number;
};

export function createAdamState(size: number): AdamState {
  return { first: new Float32Array(size), second: new Float32Array(size), step: 0 };
}

/** Refuses settings that would turn every weight into NaN, before any weight is touched. */
export function checkAdamParams(params: AdamParams): void {
  const { learningRate, beta1 = 0, beta2 = 0, eps = 1e-12, weightDecay = 0, gradClipNorm = 0 } = params;
  const below1 = { beta1, beta2 };
  const notNegative = { learningRate, eps, weightDecay, gradClipNorm };
  for (const [name, value] of Object.entries({ ...below1, ...notNegative })) {
    const limit = name in below1 ? 1 : Infinity;
    if (value >= 0 && value < limit) continue;
    const range = name in below1 ? 'at least 0 and below 1' : 'finite and not negative';
    throw new TabwrightError('backend', `Adam's ${name} is ${value}; it must be ${range}.`, {
      code: 'bad-adam-params',
      details: { name, value },
    });
  }
}

export function l2Norm(vector: Float32Array): number {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += vector[i] * vector[i];
  return Math.sqrt(squares);
}

/** Changes weights and state in place. `gradNorm` is the gradient's L2 norm, which clipping compares with its limit. */
export function adamStep(
  weights: Float32Array,
  gradient: Float32Array,
  state: AdamState,
  params: AdamParams,
  gradNorm = l2Norm(gradient),
): void {
  const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-12, weightDecay = 0, gradClipNorm = 0 } = params;
  const scale = gradClipNorm > 0 && gradNorm > gradClipNorm ? gradClipNorm / gradNorm : 1;
  state.step += 1;
  // What does not change from weight to weight is divided out once: division is most of what the loop costs.
  const rate = learningRate / (1 - beta1 ** state.step);
  const correction2 = 1 / (1 - beta2 ** state.step);
  const { first, second } = state;
  const keep = 1 - learningRate * weightDecay;
  for (let i = 0; i < weights.length; i++) {
    const g = gradient[i] * scale;
    const m = (first[i] = beta1 * first[i] + (1 - beta1) * g);
    const v = (second[i] = beta2 * second[i] + (1 - beta2) * g * g);
    weights[i] = weights[i] * keep - (rate * m) / (Math.sqrt(v * correction2) + eps);
  }
}
