// The policy losses and their derivative by each token's log-probability, in closed form. Backends that compute
// the loss themselves are tested against this; any other loss reaches the weights through these derivatives
// (`Trainer.forwardBackwardCustom`). Formulas: see `LossName` in core; GSPO: arXiv 2507.18071, equations 4-6.

import type { CustomLoss, LossConfig, LossName } from '../core/index.ts';
import type { PolicyRow } from './rows.ts';

export type LossTerms = {
  /** Log-probability of each target under the weights being trained. */
  readonly logprobs: readonly number[] | Float32Array;
  /** The sampler's. Not used by `cross_entropy`. */
  readonly samplerLogprobs?: readonly number[];
  /** Advantages; the weights for `cross_entropy`. */
  readonly advantages: readonly number[];
  /** `gspo` only: 1 where a position counts. */
  readonly sequenceRatioMask?: readonly number[];
};

export type LossValue = {
  /** Sum over tokens. */
  readonly loss: number;
  /** dLoss / dLogprob, per token. Clip weights of `cispo` are constants here, as its stop-gradient says. */
  readonly gradient: readonly number[];
};

/** Bounds of the ratio where none are given: [low, high]. */
export const RATIO_BOUNDS = { ppo: [0.8, 1.2], cispo: [0, 4], gspo: [1 - 3e-4, 1 + 4e-4] } as const;

/** Value and derivative of one row. */
export function lossValue(name: LossName, terms: LossTerms, config: LossConfig = {}): LossValue {
  if (name === 'gspo') return gspoRow(terms, config);
  let loss = 0;
  const gradient = terms.advantages.map((advantage, t) => {
    const token = tokenLoss(name, terms.logprobs[t], terms.samplerLogprobs?.[t] ?? 0, advantage, config);
    loss += token.value;
    return token.slope;
  });
  return { loss, gradient };
}

function tokenLoss(
  name: Exclude<LossName, 'gspo'>,
  lp: number,
  q: number,
  advantage: number,
  config: LossConfig,
): { value: number; slope: number } {
  const ratio = Math.exp(lp - q);
  switch (name) {
    case 'cross_entropy':
      return { value: -advantage * lp, slope: -advantage };
    case 'importance_sampling':
      return { value: -ratio * advantage, slope: -ratio * advantage };
    case 'ppo': {
      const [low, high] = RATIO_BOUNDS.ppo;
      const clipped = clamp(ratio, config.clipLow ?? low, config.clipHigh ?? high);
      const free = ratio * advantage <= clipped * advantage;
      return { value: -Math.min(ratio * advantage, clipped * advantage), slope: free ? -ratio * advantage : 0 };
    }
    case 'cispo': {
      const [low, high] = RATIO_BOUNDS.cispo;
      const weight = clamp(ratio, config.clipLow ?? low, config.clipHigh ?? high);
      return { value: -weight * lp * advantage, slope: -weight * advantage };
    }
    case 'dro': {
      const beta = config.beta ?? 0.05;
      return { value: -(lp * advantage - (beta / 2) * (lp - q) ** 2), slope: -advantage + beta * (lp - q) };
    }
  }
  return name satisfies never;
}

export type GspoOptions = {
  /** Lower ratio bound. Default 1 - 3e-4, the paper's. */
  readonly clipLow?: number;
  /** Upper ratio bound. Default 1 + 4e-4, the paper's. */
  readonly clipHigh?: number;
};

/**
 * Sequence-level clipping: the ratio of a row is the geometric mean of its tokens' ratios, its advantage the mean
 * of theirs. Summed over rows. For backends that do not offer `gspo` by name.
 */
export function createGspoLoss(rows: readonly PolicyRow[], options: GspoOptions = {}): CustomLoss {
  return (logprobs) => {
    let loss = 0;
    let clippedRows = 0;
    const gradients = rows.map((row, i) => {
      const { advantages, mask } = row;
      const terms = { logprobs: logprobs[i], samplerLogprobs: row.logprobs, advantages, sequenceRatioMask: mask };
      const value = gspoRow(terms, options);
      loss += value.loss;
      if (value.clipped) clippedRows++;
      return value.gradient;
    });
    return { loss, gradients, metrics: { 'gspo/clip_fraction:mean': clippedRows / Math.max(1, rows.length) } };
  };
}

function gspoRow(terms: LossTerms, config: LossConfig): LossValue & { readonly clipped: boolean } {
  const { logprobs, samplerLogprobs: q = [], advantages, sequenceRatioMask: mask = [] } = terms;
  const length = mask.reduce((sum, sampled) => sum + sampled, 0);
  if (length === 0) return { loss: 0, gradient: advantages.map(() => 0), clipped: false };
  const masked = (value: (t: number) => number): number =>
    mask.reduce((sum, sampled, t) => (sampled === 0 ? sum : sum + sampled * value(t)), 0) / length;
  const advantage = masked((t) => advantages[t]);
  const ratio = Math.exp(masked((t) => logprobs[t] - q[t]));
  const bounded = clamp(ratio, config.clipLow ?? RATIO_BOUNDS.gspo[0], config.clipHigh ?? RATIO_BOUNDS.gspo[1]);
  const free = ratio * advantage <= bounded * advantage;
  return {
    loss: -Math.min(ratio * advantage, bounded * advantage),
    gradient: mask.map((sampled) => (free && sampled !== 0 ? (-advantage * ratio * sampled) / length : 0)),
    clipped: !free,
  };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
