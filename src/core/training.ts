// Tinker's training primitives with Tinker's exact semantics: losses are sums over tokens, gradients accumulate
// until `optimStep`, a sampler is an immutable snapshot.
// Source: tinker-docs, "Losses" and the SDK's types (LossFnType, AdamParams).

import type { CallOptions, Sampler } from './policy.ts';

/**
 * lp = log-probability of the target under the weights being trained, q = the sampler's, r = exp(lp - q), A = advantage.
 * - `cross_entropy`: -sum w lp
 * - `importance_sampling`: -sum r A
 * - `ppo`: -sum min(r A, clip(r, low, high) A)
 * - `cispo`: -sum stopgrad(clip(r, low, high)) lp A
 * - `dro`: -sum (lp A - beta/2 (lp - q)^2)
 * - `gspo`: -sum over rows of min(s A, clip(s, low, high) A) with s = exp(mean(lp - q)) and A the mean advantage, means
 *   over the positions that `sequenceRatioMask` marks (arXiv 2507.18071, equations 4-6)
 */
export type LossName = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo' | 'dro' | 'gspo';

export type LossInputs = {
  /**
   * Next token at each position; same length as `tokens`. `cross_entropy` also takes K targets a position, [N, K] row
   * after row: K times as many, and log-probabilities come back alike.
   */
  readonly targetTokens: readonly number[];
  /** `cross_entropy` only; may be negative. Aligned with `targetTokens`. */
  readonly weights?: readonly number[];
  /** The sampler's log-probability of each target; 0 where nothing was sampled. */
  readonly logprobs?: readonly number[];
  readonly advantages?: readonly number[];
  /** `gspo` only: 1 where the ratio of the row counts a position, the sampled ones, 0 elsewhere. */
  readonly sequenceRatioMask?: readonly number[];
};

/** One training row: `tokens[t]` is read, `targetTokens[t]` is predicted from `tokens[0..t]`. */
export type Datum = { readonly tokens: readonly number[]; readonly lossInputs: LossInputs };

export type LossConfig = {
  /** Lower ratio bound: `ppo` default 0.8, `cispo` 0, `gspo` 1 - 3e-4. An absolute ratio, not an epsilon. */
  readonly clipLow?: number;
  /** Upper ratio bound: `ppo` default 1.2, `cispo` 4, `gspo` 1 + 4e-4. */
  readonly clipHigh?: number;
  /** `dro` only, default 0.05. */
  readonly beta?: number;
};

export type AdamParams = {
  readonly learningRate: number;
  /** Default 0.9. */
  readonly beta1?: number;
  /** Default 0.95. */
  readonly beta2?: number;
  /** Default 1e-12. */
  readonly eps?: number;
  /** Decoupled: p <- p (1 - lr wd). Default 0. */
  readonly weightDecay?: number;
  /** Global L2 norm above which the gradient is scaled down; 0 is off. Default 0. */
  readonly gradClipNorm?: number;
};

export type ForwardOutput = {
  /** Per datum, log-probability of each target, nats. */
  readonly logprobs: readonly Float32Array[];
  /** `loss:sum` always; names follow Tinker's `name:reduction`. */
  readonly metrics: Readonly<Record<string, number>>;
};

/** The user's loss of token log-probabilities: its value and its derivative by each of them. */
export type CustomLoss = (logprobs: readonly Float32Array[]) => {
  readonly loss: number;
  readonly gradients: readonly (readonly number[] | Float32Array)[];
  readonly metrics?: Readonly<Record<string, number>>;
};

/** Something that can be trained. Calls are carried out in the order they are made. */
export interface Trainer extends AsyncDisposable {
  /** Optimiser steps taken so far. */
  readonly step: number;
  forward(data: readonly Datum[], loss: LossName, config?: LossConfig, options?: CallOptions): Promise<ForwardOutput>;
  /** Adds the gradient of the summed loss to the accumulator. */
  forwardBackward(
    data: readonly Datum[],
    loss: LossName,
    config?: LossConfig,
    options?: CallOptions,
  ): Promise<ForwardOutput>;
  /** Any loss of token log-probabilities: a forward pass, then weighted cross-entropy with weights -dLoss/dLogprob. */
  forwardBackwardCustom(data: readonly Datum[], loss: CustomLoss, options?: CallOptions): Promise<ForwardOutput>;
  /** One Adam step with the accumulated gradient, which it clears. */
  optimStep(params: AdamParams, options?: CallOptions): Promise<{ readonly metrics: Readonly<Record<string, number>> }>;
  /**
   * Weights and optimiser state, written whole or not at all; gives what `loadState` takes. That is `path` itself, a folder,
   * in this process; a server names its checkpoint after the last part of `path` and gives a `tinker://` path.
   */
  saveState(path: string, options?: CallOptions): Promise<string>;
  loadState(path: string, options?: CallOptions): Promise<void>;
  /** Deletes what `saveState` gave; nothing happens where there is nothing. */
  removeState(path: string, options?: CallOptions): Promise<void>;
  /** Weights only, in a form that a sampler can be made of; gives what `Backend.openSampler` takes. */
  saveWeightsForSampler(path: string, options?: CallOptions): Promise<string>;
  /** A snapshot of the weights as they are now; later steps do not change it. */
  saveWeightsAndGetSampler(options?: CallOptions): Promise<Sampler>;
}
