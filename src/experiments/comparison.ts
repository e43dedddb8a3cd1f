// Two evaluations on the same instances, paired: what differs, how sure that is, how small a difference could have been
// seen, and what invalid episodes and chance could change. Pure; refuses what does not compare.

import { TabwrightError } from '../core/index.ts';
import {
  clusterBootstrap,
  clusterStandardError,
  hoeffdingHalfWidth,
  mcNemar,
  minimumDetectableDifference,
  normalQuantile,
  signFlipTest,
} from '../stats/index.ts';
import { checkComparable, pairInstances, type Dropped, type Pair } from './comparison-pairs.ts';
import { noiseOf, type Noise } from './comparison-noise.ts';
import { clustersOf } from './evaluation.ts';
import type { Evaluation } from './evaluation-schema.ts';

export type ComparisonOptions = {
  readonly a: Evaluation;
  readonly b: Evaluation;
  /** The policy of `a` or `b` once more, with other draws: how far it differs from itself. */
  readonly noise?: Evaluation | undefined;
  /** Of the bootstrap and the permutations. Default 1. */
  readonly seed?: number;
};

export type EvaluationComparison = {
  /** `b` minus `a`, over instances tried by both. */
  readonly difference: number;
  readonly successA: number;
  readonly successB: number;
  /** Instances with a valid episode on both sides. */
  readonly pairs: number;
  readonly dropped: Dropped;
  /** Instances on which b did better, and worse. */
  readonly gained: number;
  readonly lost: number;
  /** What is drawn anew in the interval, and how many there are. */
  readonly unit: 'instance' | 'task' | 'group';
  readonly clusters: number;
  /** 95 %. Hoeffding's where all differences are the same, which leaves the bootstrap without a width. */
  readonly interval: readonly [number, number];
  readonly method: 'bootstrap' | 'hoeffding';
  /** Of single tries at independent instances; null elsewhere. */
  readonly mcnemar: { readonly exactP: number; readonly midP: number } | null;
  /** Whole clusters change sides. */
  readonly signFlipP: number;
  /** Smallest difference that this comparison would show with power 0.8; null where the two differ nowhere. */
  readonly detectable: number | null;
  /** The difference if every invalid episode had gone against b, and if every one had gone against a. */
  readonly bounds: readonly [number, number];
  readonly noise: Noise | null;
  /** Settings of the environment in which the two differ, `name: a, b`. */
  readonly otherSettings: readonly string[];
  readonly verdict: 'better' | 'worse' | 'undecided';
  /** Why the difference does not stand; empty where it does. */
  readonly doubts: readonly string[];
  readonly seed: number;
};

const ALPHA = 0.05;
const POWER = 0.8;
/** Where episodes are played changes nothing of what they are. */
const INCIDENTAL = ['pages', 'sessions', 'pool', 'unsafeLocal', 'allow'];

export function compareEvaluations({ a, b, noise, seed = 1 }: ComparisonOptions): EvaluationComparison {
  checkComparable(a, b);
  const { pairs, dropped, bounds } = pairInstances(a, b);
  if (pairs.length === 0) throw noPairs(dropped);
  const { unit, clusters } = clustersOf(pairs);
  const values = [...clusters.values()].map((own) => own.map(({ difference }) => difference));
  const { mean, interval, degenerate } = clusterBootstrap(values, { seed });
  const half = hoeffdingHalfWidth({ range: 2, n: clusters.size });
  const single = clusters.size === pairs.length && pairs.every(({ isBinary }) => isBinary);
  const gained = pairs.filter(({ difference }) => difference > 0).length;
  const lost = pairs.filter(({ difference }) => difference < 0).length;
  const facts = {
    difference: mean,
    successA: meanOf(pairs.map((pair) => pair.a)),
    successB: meanOf(pairs.map((pair) => pair.b)),
    pairs: pairs.length,
    dropped,
    gained,
    lost,
    unit,
    clusters: clusters.size,
    interval: degenerate ? ([Math.max(-1, mean - half), Math.min(1, mean + half)] as const) : interval,
    method: degenerate ? ('hoeffding' as const) : ('bootstrap' as const),
    mcnemar: single ? mcNemar(gained, lost) : null,
    signFlipP: signFlipTest(values.map(sumOf), { seed }),
    detectable: detectableOf({ pairs, values, single, discordant: gained + lost }),
    bounds,
    noise: noiseOf({ a, b, noise, seed }),
    otherSettings: settingsThatDiffer(a, b),
    seed,
  };
  const doubts = doubtsOf(facts);
  const verdict = doubts.length > 0 ? 'undecided' : mean > 0 ? 'better' : 'worse';
  return { ...facts, verdict, doubts };
}

function noPairs({ onlyInA, onlyInB, invalidInA, invalidInB, invalidInBoth }: Dropped): TabwrightError {
  const invalid = invalidInA + invalidInB + invalidInBoth;
  const why =
    invalid === 0
      ? `they share no instance, ${onlyInA} are in the first alone and ${onlyInB} in the second: evaluate both on the same tasks and seeds`
      : `on none of the ${invalid} instances that they share both have an episode that came to an end`;
  return new TabwrightError('config', `These two do not compare: ${why}.`, {
    code: 'no-shared-instances',
    details: { onlyInA, onlyInB, invalid },
  });
}

type DetectableOptions = {
  readonly pairs: readonly Pair[];
  readonly values: readonly (readonly number[])[];
  readonly single: boolean;
  readonly discordant: number;
};

function detectableOf({ pairs, values, single, discordant }: DetectableOptions): number | null {
  if (discordant === 0) return null;
  const n = pairs.length;
  if (single)
    return minimumDetectableDifference({ n, discordance: discordant / n, alpha: ALPHA, power: POWER }) ?? null;
  const error = clusterStandardError(values);
  if (error === undefined || error === 0) return null;
  const detectable = (normalQuantile(1 - ALPHA / 2) + normalQuantile(POWER)) * error;
  return detectable <= 1 ? detectable : null;
}

type Facts = Omit<EvaluationComparison, 'verdict' | 'doubts'>;

function doubtsOf({ difference, interval, mcnemar, signFlipP, bounds, noise }: Facts): readonly string[] {
  const p = mcnemar?.exactP ?? signFlipP;
  const holdsZero = ([low, high]: readonly [number, number]): boolean => low <= 0 && high >= 0;
  return [
    ...(holdsZero(interval) ? ['the interval holds no difference as well'] : []),
    ...(p >= ALPHA ? [`chance alone gives one as large with p = ${p.toFixed(3)}`] : []),
    ...(noise !== null && Math.abs(difference) <= noise.floor
      ? ['a policy played twice differs from itself as much']
      : []),
    ...(holdsZero(bounds) && !holdsZero(interval) ? ['the invalid episodes could turn it round'] : []),
  ];
}

function settingsThatDiffer(a: Evaluation, b: Evaluation): readonly string[] {
  const [one, other] = [
    { ...a.environment.settings, temperature: a.sampling.temperature },
    { ...b.environment.settings, temperature: b.sampling.temperature },
  ] as const;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => !INCIDENTAL.includes(name));
  const shown = (settings: Readonly<Record<string, unknown>>, name: string): string =>
    JSON.stringify(settings[name] ?? null);
  return names
    .filter((name) => shown(one, name) !== shown(other, name))
    .map((name) => `${name}: ${shown(one, name)}, ${shown(other, name)}`);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((x, y) => x + y, 0);
}

function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}
