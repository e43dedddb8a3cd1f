import { expect, it } from 'vitest';
import type { Datum, LossName } from '../core/index.ts';
import { summedLoss, wireDatum, wireLossConfig } from './datums.ts';

const DATUM: Datum = {
  tokens: [1, 2],
  lossInputs: { targetTokens: [2, 3], logprobs: [-1, -2], advantages: [1, -0.5] },
};
const LP = [Float32Array.of(-0.5, -2.5)];
const [r1, r2] = [Math.exp(0.5), Math.exp(-0.5)];

const EXPECTED: readonly (readonly [LossName, number])[] = [
  ['importance_sampling', -(r1 * 1) - r2 * -0.5],
  ['ppo', -Math.min(r1, 1.2) - Math.min(r2 * -0.5, 0.8 * -0.5)],
  ['cispo', -(r1 * -0.5 * 1) - r2 * -2.5 * -0.5],
  ['dro', -(-0.5 - 0.025 * 0.25) - (-2.5 * -0.5 - 0.025 * 0.25)],
];

it.each(EXPECTED)('%s: the sum that a server left out follows from the log-probabilities', (loss, expected) => {
  expect(summedLoss(loss, [DATUM], LP)).toBeCloseTo(expected, 12);
});

it('cross-entropy counts weighted targets only, also where the others have no log-probability', () => {
  const datum: Datum = { tokens: [1, 2], lossInputs: { targetTokens: [2, 3], weights: [0, 2] } };
  expect(summedLoss('cross_entropy', [datum], [Float32Array.of(NaN, -1.5)])).toBe(3);
});

it('a loss over whole rows has no such sum', () => {
  expect(summedLoss('gspo', [DATUM], LP)).toBeUndefined();
});

it('rows and settings get the names of the wire, K targets a position two dimensions', () => {
  const { modelInput, lossInputs } = wireDatum(DATUM);
  expect(modelInput).toEqual([{ kind: 'text', tokens: Int32Array.of(1, 2) }]);
  expect(Object.keys(lossInputs)).toEqual(['target_tokens', 'logprobs', 'advantages']);
  const wide = wireDatum({ tokens: [1, 2], lossInputs: { targetTokens: [1, 2, 3, 4], weights: [1, 0, 0, 1] } });
  expect(wide.lossInputs['weights'].shape).toEqual([2, 2]);
  expect(wireLossConfig({ clipLow: 0.9, clipHigh: 1.1 })).toEqual({
    clip_low_threshold: 0.9,
    clip_high_threshold: 1.1,
  });
  expect(() => wireLossConfig({ clip: 1 } as object)).toThrow('no setting "clip"');
});
