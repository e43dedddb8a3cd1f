// Training rows and losses of this project in Tinker's names, and the sums that a server may leave out. Pure.

import { TabwrightError, type Datum, type LossConfig, type LossName } from '../core/index.ts';
import { floatTensor, intTensor, type Tensor, type WireDatum } from './wire/index.ts';

export function wireDatum({ tokens, lossInputs }: Datum): WireDatum {
  const { targetTokens, weights, logprobs, advantages, sequenceRatioMask } = lossInputs;
  // K targets a position make a matrix, row after row.
  const columns = targetTokens.length / Math.max(tokens.length, 1);
  const shape = columns === 1 || !Number.isInteger(columns) ? [targetTokens.length] : [tokens.length, columns];
  const inputs: Record<string, Tensor> = { target_tokens: intTensor(targetTokens, shape) };
  if (weights !== undefined)
    inputs['weights'] = floatTensor(weights, weights.length === targetTokens.length ? shape : undefined);
  if (logprobs !== undefined) inputs['logprobs'] = floatTensor(logprobs);
  if (advantages !== undefined) inputs['advantages'] = floatTensor(advantages);
  if (sequenceRatioMask !== undefined) inputs['sequence_ratio_mask'] = floatTensor(sequenceRatioMask);
  return { modelInput: [{ kind: 'text', tokens: Int32Array.from(tokens) }], lossInputs: inputs };
}

const SETTING_NAMES: Readonly<Record<keyof LossConfig, string>> = {
  clipLow: 'clip_low_threshold',
  clipHigh: 'clip_high_threshold',
  beta: 'beta',
};

export function wireLossConfig(config: LossConfig | undefined): Record<string, number> {
  const settings: Record<string, number> = {};
  for (const [name, value] of Object.entries(config ?? {}) as [keyof LossConfig, number | undefined][]) {
    if (value === undefined) continue;
    if (!Object.hasOwn(SETTING_NAMES, name)) {
      throw new TabwrightError('backend', `Tinker's losses have no setting "${name}".`, {
        code: 'unknown-loss-setting',
        details: { name },
      });
    }
    settings[SETTING_NAMES[name]] = value;
  }
  return settings;
}

/**
 * The summed loss by Tinker's formulas, for servers whose results have no `loss:sum`. Undefined where it does not follow
 * from the log-probabilities of the tokens one by one.
 */
export function summedLoss(
  loss: LossName,
  data: readonly Datum[],
  logprobs: readonly ArrayLike<number>[],
  config: LossConfig = {},
): number | undefined {
  const term = TERMS[loss];
  if (term === undefined) return undefined;
  let sum = 0;
  data.forEach(({ lossInputs }, row) => {
    for (let t = 0; t < logprobs[row].length; t++) {
      const values = {
        lp: logprobs[row][t],
        q: lossInputs.logprobs?.[t] ?? 0,
        a: (loss === 'cross_entropy' ? lossInputs.weights?.[t] : lossInputs.advantages?.[t]) ?? 0,
      };
      sum += term(values, config);
    }
  });
  return sum;
}

type Term = (values: { readonly lp: number; readonly q: number; readonly a: number }, config: LossConfig) => number;

const clip = (ratio: number, low: number, high: number): number => Math.min(Math.max(ratio, low), high);

/** See `LossName`. */
const TERMS: Readonly<Partial<Record<LossName, Term>>> = {
  cross_entropy: ({ lp, a }) => (a === 0 ? 0 : -a * lp),
  importance_sampling: ({ lp, q, a }) => -Math.exp(lp - q) * a,
  ppo: ({ lp, q, a }, { clipLow = 0.8, clipHigh = 1.2 }) =>
    -Math.min(Math.exp(lp - q) * a, clip(Math.exp(lp - q), clipLow, clipHigh) * a),
  cispo: ({ lp, q, a }, { clipLow = 0, clipHigh = 4 }) => -clip(Math.exp(lp - q), clipLow, clipHigh) * lp * a,
  dro: ({ lp, q, a }, { beta = 0.05 }) => -(lp * a - (beta / 2) * (lp - q) ** 2),
};
