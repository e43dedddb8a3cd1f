// Tinker's losses as graph nodes over the log-probabilities of scored tokens. Each returns one value a token; the
// loss is their sum. Formulas: `LossName` in core/training.ts.

import type { LossConfig, LossName } from '../core/index.ts';
import type { Graph, Value } from './graph.ts';
import { clip, exp, matmul, minimum, mul, reshape, stopGradient, sub } from './ops.ts';

/** Vectors [N] and scalars that a loss reads beside the log-probabilities, by input name. */
export const LOSS_VECTORS = {
  cross_entropy: ['weights'],
  importance_sampling: ['logprobs', 'advantages'],
  ppo: ['logprobs', 'advantages'],
  cispo: ['logprobs', 'advantages'],
  dro: ['logprobs', 'advantages'],
  gspo: ['logprobs', 'advantages', 'sequenceRatioMask'],
} as const satisfies Record<LossName, readonly string[]>;

export const LOSS_SCALARS = {
  cross_entropy: {},
  importance_sampling: {},
  ppo: { clipLow: 0.8, clipHigh: 1.2 },
  cispo: { clipLow: 0, clipHigh: 4 },
  dro: { beta: 0.05 },
  gspo: { clipLow: 1 - 3e-4, clipHigh: 1 + 4e-4 },
} as const satisfies Record<LossName, LossConfig>;

/** Losses that also read `rowOf` [R, N]: 1 where scored token n belongs to row r, so that a row can be looked at whole. */
export const LOSSES_BY_ROW: ReadonlySet<LossName> = new Set(['gspo'] as const);

export type LossInputValues = Readonly<Record<string, Value>>;

/** Loss of each scored token [N], or of each row [R, 1] where a loss is of rows, given lp = log-probabilities of the targets [N]. */
export function tokenLoss(g: Graph, loss: LossName, lp: Value, inputs: LossInputValues): Value {
  const input = (name: string): Value => inputs[name];
  const negative = (value: Value): Value => mul(g, value, g.scalar(-1));
  const ratio = (): Value => exp(g, sub(g, lp, input('logprobs')));
  switch (loss) {
    case 'cross_entropy':
      return negative(mul(g, input('weights'), lp));
    case 'importance_sampling':
      return negative(mul(g, ratio(), input('advantages')));
    case 'ppo': {
      const r = ratio();
      const clipped = clip(g, r, input('clipLow'), input('clipHigh'));
      return negative(minimum(g, mul(g, r, input('advantages')), mul(g, clipped, input('advantages'))));
    }
    case 'cispo': {
      const weight = stopGradient(g, clip(g, ratio(), input('clipLow'), input('clipHigh')));
      return negative(mul(g, mul(g, weight, lp), input('advantages')));
    }
    case 'dro': {
      const gap = sub(g, lp, input('logprobs'));
      const penalty = mul(g, mul(g, gap, gap), mul(g, input('beta'), g.scalar(0.5)));
      return negative(sub(g, mul(g, lp, input('advantages')), penalty));
    }
    case 'gspo': {
      const mean = rowMean(g, input('rowOf'), input('sequenceRatioMask'));
      const r = exp(g, mean(sub(g, lp, input('logprobs'))));
      const advantage = mean(input('advantages'));
      const clipped = clip(g, r, input('clipLow'), input('clipHigh'));
      return negative(minimum(g, mul(g, r, advantage), mul(g, clipped, advantage)));
    }
    default:
      return loss satisfies never;
  }
}

/** Mean over the masked positions of each row: [N] to [R, 1]; 0 for a row without any. */
function rowMean(g: Graph, rowOf: Value, mask: Value): (value: Value) => Value {
  const [rows, count] = rowOf.shape;
  const sum = (value: Value): Value => matmul(g, rowOf, reshape(g, value, [count, 1]));
  const perRow = { type: 'float32', shape: [rows, 1] } as const;
  const length = g.node1('Max', [sum(mask), g.scalar(1)], perRow);
  const share = g.node1('Reciprocal', [length], perRow);
  return (value) => mul(g, sum(mul(g, value, mask)), share);
}
