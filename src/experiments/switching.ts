// Whether a challenger is so much better than the policy in use that changing is worth it: the lower end of the interval of
// the paired difference has to clear a margin, which is never less than what the same policy differs from itself. Pure.

import { points, pointsRange } from '../util/index.ts';
import { compareEvaluations, type EvaluationComparison } from './comparison.ts';
import type { Evaluation } from './evaluation-schema.ts';

export type SwitchingOptions = {
  readonly incumbent: Evaluation;
  readonly challenger: Evaluation;
  /** The incumbent once more, with other draws. */
  readonly repeated?: Evaluation;
  /** Share of episodes that a change has to be worth. Default 0. */
  readonly margin?: number;
  readonly seed?: number;
};

export type Switching = {
  readonly challenger: string;
  readonly comparison: EvaluationComparison;
  /** The greater of what was asked for and the noise floor. */
  readonly margin: number;
  readonly noiseFloor: number | null;
  readonly clears: boolean;
};

export function switching({ incumbent, challenger, repeated, margin = 0, seed = 1 }: SwitchingOptions): Switching {
  const comparison = compareEvaluations({ a: incumbent, b: challenger, noise: repeated, seed });
  const noiseFloor = comparison.noise?.floor ?? null;
  const needed = Math.max(margin, noiseFloor ?? 0);
  return {
    challenger: challenger.model,
    comparison,
    margin: needed,
    noiseFloor,
    clears: comparison.interval[0] > needed,
  };
}

export function describeSwitching({ challenger, comparison, margin, noiseFloor, clears }: Switching): string {
  const { difference, interval, pairs } = comparison;
  const floor = noiseFloor === null ? 'noise not measured' : `noise floor ${points(noiseFloor)}`;
  return (
    `${challenger} ${clears ? 'clears' : 'does not clear'} the switching margin: ${points(difference)} ` +
    `(95 % interval ${pointsRange(interval)}) on ${pairs} instances, needed above ${points(margin)}; ${floor}`
  );
}
