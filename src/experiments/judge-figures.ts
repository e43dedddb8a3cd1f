// How good a judge is, against labels that are known: precision, recall, false-positive rate and agreement with Wilson's
// intervals over what it could judge, and the worst that it can be when what it could not judge is held against it. Pure.

import type { JsonObject } from '../core/index.ts';
import { wilsonInterval } from '../stats/index.ts';

export type JudgedRow = {
  /** Whether it was a success, by code. */
  readonly label: boolean;
  readonly verdict: 'success' | 'failure' | 'invalid';
};

/** `value` is null where there is nothing to divide by; the interval is [0, 1] then. */
export type Rate = {
  readonly value: number | null;
  readonly low: number;
  readonly high: number;
  readonly count: number;
  readonly of: number;
};

export type JudgeFigures = {
  readonly n: number;
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly trueNegatives: number;
  readonly falseNegatives: number;
  /** Judged neither, by label. */
  readonly invalidSuccesses: number;
  readonly invalidFailures: number;
  readonly precision: Rate;
  readonly recall: Rate;
  readonly falsePositiveRate: Rate;
  readonly agreement: Rate;
  readonly invalid: Rate;
  /** Every success that could not be judged counted as missed. */
  readonly worstRecall: Rate;
  /** Every failure that could not be judged counted as passed. */
  readonly worstFalsePositiveRate: Rate;
};

export function judgeFigures(rows: readonly JudgedRow[]): JudgeFigures {
  const count = (label: boolean, verdict: JudgedRow['verdict']): number =>
    rows.filter((row) => row.label === label && row.verdict === verdict).length;
  const [truePositives, falseNegatives, invalidSuccesses] = [
    count(true, 'success'),
    count(true, 'failure'),
    count(true, 'invalid'),
  ];
  const [falsePositives, trueNegatives, invalidFailures] = [
    count(false, 'success'),
    count(false, 'failure'),
    count(false, 'invalid'),
  ];
  const successes = truePositives + falseNegatives;
  const failures = falsePositives + trueNegatives;
  return {
    n: rows.length,
    truePositives,
    falsePositives,
    trueNegatives,
    falseNegatives,
    invalidSuccesses,
    invalidFailures,
    precision: rate(truePositives, truePositives + falsePositives),
    recall: rate(truePositives, successes),
    falsePositiveRate: rate(falsePositives, failures),
    agreement: rate(truePositives + trueNegatives, successes + failures),
    invalid: rate(invalidSuccesses + invalidFailures, rows.length),
    worstRecall: rate(truePositives, successes + invalidSuccesses),
    worstFalsePositiveRate: rate(falsePositives + invalidFailures, failures + invalidFailures),
  };
}

function rate(count: number, of: number): Rate {
  const [low, high] = wilsonInterval(count, of);
  return { value: of === 0 ? null : count / of, low, high, count, of };
}

const NAMES = {
  precision: 'precision',
  recall: 'recall',
  falsePositiveRate: 'false-positive rate',
  agreement: 'agreement',
  invalid: 'invalid',
  worstRecall: 'recall at worst',
  worstFalsePositiveRate: 'false-positive rate at worst',
} as const;

/** As lines for people. */
export function describeJudgeFigures(figures: JudgeFigures): string {
  return Object.entries(NAMES)
    .map(([key, name]) => `${name.padEnd(30)}${describeRate(figures[key as keyof typeof NAMES])}`)
    .join('\n');
}

export function describeRate({ value, low, high, count, of }: Rate): string {
  if (value === null) return 'nothing to say it of';
  const percent = (share: number): string => (share * 100).toFixed(1);
  return `${percent(value).padStart(5)} % [${percent(low)}, ${percent(high)}]  (${count} of ${of})`;
}

export function figuresJson(figures: JudgeFigures): JsonObject {
  return Object.fromEntries(
    Object.entries(figures).map(([key, value]) => [key, typeof value === 'number' ? value : { ...value }]),
  );
}
