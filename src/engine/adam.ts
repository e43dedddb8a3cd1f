// Adam with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019) on one flat buffer.

import type { AdamParams } from '../core/index.ts';

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

/** Changes weights and state in place. Returns the gradient's L2 norm before clipping. */
export function adamStep(weights: Float32Array, gradient: Float32Array, state: AdamState, params: AdamParams): { gradNorm: number } {
  const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-12, weightDecay = 0, gradClipNorm = 0 } = params;
  let squares = 0;
  for (let i = 0; i < gradient.length; i++) squares += gradient[i]! * gradient[i]!;
  const gradNorm = Math.sqrt(squares);
  const scale = gradClipNorm > 0 && gradNorm > gradClipNorm ? gradClipNorm / gradNorm : 1;
  state.step += 1;
  const correction1 = 1 - beta1 ** state.step;
  const correction2 = 1 - beta2 ** state.step;
  const { first, second } = state;
  const keep = 1 - learningRate * weightDecay;
  for (let i = 0; i < weights.length; i++) {
    const g = gradient[i]! * scale;
    const m = (first[i] = beta1 * first[i]! + (1 - beta1) * g);
    const v = (second[i] = beta2 * second[i]! + (1 - beta2) * g * g);
    weights[i] = weights[i]! * keep - (learningRate * (m / correction1)) / (Math.sqrt(v / correction2) + eps);
  }
  return { gradNorm };
}
