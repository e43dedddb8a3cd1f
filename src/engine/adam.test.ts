import { describe, expect, it } from 'vitest';
import { adamStep, createAdamState, l2Norm } from './adam.ts';

describe('Adam', () => {
  it('two steps agree with values worked out by hand', () => {
    const weights = Float32Array.of(1);
    const state = createAdamState(1);
    const params = { learningRate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-8 };
    // Step 1, g = 0.5: m = .05, v = .0125; m/(1-.9) = .5, v/(1-.95) = .25; w = 1 - .1 * .5/.5 = .9
    adamStep(weights, Float32Array.of(0.5), state, params);
    expect(weights[0]).toBeCloseTo(0.9, 6);
    // Step 2, g = -0.25: m = .9*.05 - .1*.25 = .02, v = .95*.0125 + .05*.0625 = .015;
    // m/(1-.81) = .1052632, v/(1-.9025) = .1538462; w = .9 - .1 * .1052632/.3922323 = .8731631
    adamStep(weights, Float32Array.of(-0.25), state, params);
    expect(weights[0]).toBeCloseTo(0.8731631, 6);
    expect(state.step).toBe(2);
  });

  it('weight decay is decoupled: it shrinks the weight by lr times decay, whatever the gradient', () => {
    const weights = Float32Array.of(2);
    adamStep(weights, Float32Array.of(0), createAdamState(1), { learningRate: 0.1, weightDecay: 0.5 });
    expect(weights[0]).toBeCloseTo(2 * (1 - 0.1 * 0.5), 6);
  });

  it('clipping scales the whole gradient to the given norm (3-4-5)', () => {
    const clipped = createAdamState(2);
    adamStep(new Float32Array(2), Float32Array.of(3, 4), clipped, { learningRate: 0.1, gradClipNorm: 1 });
    expect(l2Norm(Float32Array.of(3, 4))).toBeCloseTo(5, 6);
    const reference = createAdamState(2);
    adamStep(new Float32Array(2), Float32Array.of(0.6, 0.8), reference, { learningRate: 0.1 });
    expect(clipped.first[0]).toBeCloseTo(reference.first[0], 7);
    expect(clipped.second[1]).toBeCloseTo(reference.second[1], 7);
  });

  it('a gradient below the clipping norm is left alone', () => {
    const state = createAdamState(1);
    adamStep(new Float32Array(1), Float32Array.of(0.5), state, { learningRate: 0.1, gradClipNorm: 1 });
    expect(state.first[0]).toBeCloseTo(0.05, 7);
  });
});
