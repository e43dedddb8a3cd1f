// Whether a challenger is so much better than the policy in use that changing is worth it: the difference stands, and the
// lower end of its interval clears a margin, which is never less than what the same policy differs from itself. Pure.

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
    // The interval alone is too narrow over few clusters, and knows nothing of invalid episodes.
    clears: comparison.verdict === 'better' && comparison.interval[0] > needed,
  };
}

export function describeSwitching({ challenger, comparison, margin, noiseFloor, clears }: Switching): string {
  const { difference, interval, pairs, doubts } = comparison;
  const floor = noiseFloor === null ? 'noise not measured' : `noise floor ${points(noiseFloor)}`;
  const doubt = doubts.length === 0 ? '' : `; it does not stand: ${doubts.join('; ')}`;
  return (
    `${challenger} ${clears ? 'clears' : 'does not clear'} the switching margin: ${points(difference)} ` +
    `(95 % interval ${pointsRange(interval)}) on ${pairs} instances, needed above ${points(margin)}; ${floor}${doubt}`
  );
}
