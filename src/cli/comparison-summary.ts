// A comparison as people read it: the difference, how sure it is, what it could have missed, and whether it stands.

import type { Evaluation, EvaluationComparison } from '../experiments/index.ts';
import { percent, points, pointsRange, pValue } from '../util/index.ts';

export type ComparisonSummaryOptions = {
  readonly a: Evaluation;
  readonly b: Evaluation;
  readonly comparison: EvaluationComparison;
};

export function comparisonSummary({ a, b, comparison }: ComparisonSummaryOptions): string {
  const { name, version } = a.environment;
  const { unit, clusters, method, interval, difference } = comparison;
  const { successA, successB, pairs, gained, lost, mcnemar, signFlipP, doubts, verdict, otherSettings } = comparison;
  const how = method === 'bootstrap' ? `paired bootstrap over ${clusters} ${unit}s` : 'Hoeffding, as all differ alike';
  const test =
    mcnemar === null
      ? `sign flips of ${unit}s p = ${pValue(signFlipP)}`
      : `McNemar exact p = ${pValue(mcnemar.exactP)}`;
  return [
    '',
    `B ${b.model} against A ${a.model} on ${name} ${version}; success by ${a.reward}`,
    `  A ${percent(successA)}, B ${percent(successB)}: ${points(difference)} (95 % interval ${pointsRange(interval)}, ${how})`,
    `  of ${pairs} instances B did better on ${gained} and worse on ${lost}; ${test}`,
    `  ${detectableLine(comparison)}`,
    ...noiseLine(comparison),
    ...droppedLines(comparison),
    ...otherSettings.map((one) => `  note: they were played with another ${one}`),
    '',
    doubts.length > 0
      ? `The difference does not stand: ${doubts.join('; ')}.`
      : `B is ${verdict}: the difference stands.`,
  ].join('\n');
}

function detectableLine({ detectable, pairs, gained, lost }: EvaluationComparison): string {
  if (detectable !== null) {
    return `smallest difference that ${pairs} such instances show four times in five: ${points(detectable).replace('+', '')}`;
  }
  if (gained + lost === 0) return 'they came to the same on every instance';
  return `${pairs} instances are too few to show any difference four times in five`;
}

function noiseLine({ noise }: EvaluationComparison): readonly string[] {
  if (noise === null) return ['  noise floor: not known; give --noise, or play with --samples 2'];
  const { model, source, floor, flips, pairs } = noise;
  const what = source === 'evaluation' ? 'played again' : 'in its own samples';
  return [
    `  noise floor: ${model} ${what} differs from itself by ${points(floor).replace('+', '')}, and on ${percent(flips)} of ${pairs} instances`,
  ];
}

function droppedLines({ dropped, bounds }: EvaluationComparison): readonly string[] {
  const { onlyInA, onlyInB, invalidInA, invalidInB, invalidInBoth } = dropped;
  const reasons = [
    [onlyInA, 'in A alone'],
    [onlyInB, 'in B alone'],
    [invalidInA, 'broke off in A'],
    [invalidInB, 'broke off in B'],
    [invalidInBoth, 'broke off in both'],
  ] as const;
  const told = reasons.filter(([count]) => count > 0).map(([count, why]) => `${count} ${why}`);
  return [
    ...(told.length === 0 ? [] : [`  instances left out: ${told.join(', ')}`]),
    ...(bounds[0] === bounds[1] ? [] : [`  had the broken ones all gone one way: ${pointsRange(bounds)}`]),
  ];
}
