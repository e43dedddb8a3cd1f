// How far a policy differs from itself when it is played twice: the least that a difference between two policies has to
// exceed. From an evaluation of its own, or from the samples that an evaluation has of each instance. Pure.

import { TabwrightError } from '../core/index.ts';
import { clusterBootstrap } from '../stats/index.ts';
import { checkComparable, pairInstances } from './comparison-pairs.ts';
import { clustersOf } from './evaluation.ts';
import type { Evaluation } from './evaluation-schema.ts';

export type Noise = {
  /** Whose repetitions they are. */
  readonly model: string;
  readonly source: 'evaluation' | 'samples';
  /** Greatest difference between two of the repetitions, absolute. */
  readonly floor: number;
  /** 95 %, bootstrap, of the difference between the first two. */
  readonly interval: readonly [number, number];
  /** Share of instances on which the first two came to something else. */
  readonly flips: number;
  readonly pairs: number;
};

export type NoiseOptions = {
  readonly a: Evaluation;
  readonly b: Evaluation;
  readonly noise: Evaluation | undefined;
  readonly seed: number;
};

/** Null where nothing was repeated. */
export function noiseOf({ a, b, noise, seed }: NoiseOptions): Noise | null {
  if (noise !== undefined) {
    const same = [a, b].find((one) => isSamePolicy(one, noise));
    if (same === undefined) {
      throw refused(
        `The noise floor is of a policy that is compared: ${policyOf(noise)} is neither ${policyOf(a)} nor ${policyOf(b)}.`,
        'noise-of-another-policy',
      );
    }
    checkComparable(same, noise);
    if (noise.sampling.seed === same.sampling.seed) {
      throw refused(
        `Both evaluations of ${noise.model} drew by the seed ${noise.sampling.seed}: play it again with another --seed.`,
        'noise-without-chance',
      );
    }
    return between([same, noise], 'evaluation', seed);
  }
  const repeated = [a, b].find(({ sampling }) => sampling.samples > 1);
  if (repeated === undefined) return null;
  const { samples } = repeated.sampling;
  return between(
    Array.from({ length: samples }, (_, sample) => onlySample(repeated, sample)),
    'samples',
    seed,
  );
}

/** Another temperature is another policy: what lies between the two is no noise. */
function isSamePolicy(one: Evaluation, other: Evaluation): boolean {
  return policyOf(one) === policyOf(other);
}

function policyOf({ model, renderer, sampling: { temperature } }: Evaluation): string {
  return `${model} (${renderer === null ? '' : `${renderer}, `}temperature ${temperature})`;
}

/** As an evaluation of its own. */
function onlySample(evaluation: Evaluation, sample: number): Evaluation {
  const episodes = evaluation.episodes
    .filter((episode) => episode.sample === sample)
    .map((episode) => ({ ...episode, sample: 0 }));
  return { ...evaluation, episodes };
}

function between(repetitions: readonly Evaluation[], source: Noise['source'], seed: number): Noise | null {
  const [first, second] = repetitions;
  const { pairs } = pairInstances(first, second);
  if (pairs.length === 0) {
    if (source === 'samples') return null;
    throw refused(`The two evaluations of ${first.model} share no instance.`, 'no-shared-instances');
  }
  const { clusters } = clustersOf(pairs);
  const values = [...clusters.values()].map((own) => own.map(({ difference }) => difference));
  const { interval } = clusterBootstrap(values, { seed });
  const floors = repetitions.flatMap((one, i) =>
    repetitions.slice(i + 1).map((other) => Math.abs(meanDifference(one, other))),
  );
  return {
    model: first.model,
    source,
    floor: Math.max(...floors),
    interval,
    flips: pairs.filter(({ difference }) => difference !== 0).length / pairs.length,
    pairs: pairs.length,
  };
}

/** 0 where they share nothing. */
function meanDifference(one: Evaluation, other: Evaluation): number {
  const { pairs } = pairInstances(one, other);
  return pairs.length === 0 ? 0 : pairs.reduce((sum, { difference }) => sum + difference, 0) / pairs.length;
}

function refused(message: string, code: string): TabwrightError {
  return new TabwrightError('config', message, { code });
}
