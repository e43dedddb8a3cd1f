// The instances of two evaluations, one by one: what both came to on those that both have, what is left out and why, and
// what the invalid episodes could have made of it. Pure; refuses what does not compare.

import { TabwrightError } from '../core/index.ts';
import type { EvaluatedEpisode, Evaluation } from './evaluation-schema.ts';

export type Pair = {
  readonly task: string;
  readonly group: string;
  readonly seed: number;
  /** Share of successes among the valid samples. */
  readonly a: number;
  readonly b: number;
  readonly difference: number;
  /** One sample on each side. */
  readonly isBinary: boolean;
};

export type Dropped = {
  readonly onlyInA: number;
  readonly onlyInB: number;
  readonly invalidInA: number;
  readonly invalidInB: number;
  readonly invalidInBoth: number;
};

export type Paired = {
  readonly pairs: readonly Pair[];
  readonly dropped: Dropped;
  /** Mean difference over all shared instances if every invalid episode had gone against b, and against a. */
  readonly bounds: readonly [number, number];
};

type Instance = {
  readonly task: string;
  readonly group: string;
  readonly seed: number;
  samples: number;
  valid: number;
  successes: number;
};

/** Same tasks, same rules, same judge of success; anything else compares nothing. */
export function checkComparable(a: Evaluation, b: Evaluation): void {
  const named = ({ environment: { name, version } }: Evaluation): string => `${name} ${version}`;
  const refuse = (what: string, one: string, other: string): TabwrightError =>
    new TabwrightError('config', `These two do not compare: their ${what} differ, ${one} and ${other}.`, {
      code: 'not-comparable',
      details: { what, a: one, b: other },
    });
  if (named(a) !== named(b)) throw refuse('environments', named(a), named(b));
  if (a.reward !== b.reward) throw refuse('judges of success', a.reward, b.reward);
  const [one, other] = [a.judge?.promptHash ?? '', b.judge?.promptHash ?? ''];
  if (one !== other) throw refuse('prompts of the judge', one.slice(0, 12), other.slice(0, 12));
}

export function pairInstances(a: Evaluation, b: Evaluation): Paired {
  const [ours, theirs] = [instancesOf(a), instancesOf(b)];
  const pairs: Pair[] = [];
  const dropped = { onlyInA: 0, onlyInB: 0, invalidInA: 0, invalidInB: 0, invalidInBoth: 0 };
  let [low, high, shared] = [0, 0, 0];
  for (const [key, one] of ours) {
    const other = theirs.get(key);
    if (other === undefined) {
      dropped.onlyInA++;
      continue;
    }
    shared++;
    low += atLeast(other) - atMost(one);
    high += atMost(other) - atLeast(one);
    if (one.valid === 0 || other.valid === 0) {
      dropped[one.valid > 0 ? 'invalidInB' : other.valid > 0 ? 'invalidInA' : 'invalidInBoth']++;
      continue;
    }
    const [shareA, shareB] = [one.successes / one.valid, other.successes / other.valid];
    pairs.push({
      task: one.task,
      group: one.group,
      seed: one.seed,
      a: shareA,
      b: shareB,
      difference: shareB - shareA,
      isBinary: one.valid === 1 && other.valid === 1,
    });
  }
  for (const key of theirs.keys()) if (!ours.has(key)) dropped.onlyInB++;
  return { pairs, dropped, bounds: shared === 0 ? [-1, 1] : [low / shared, high / shared] };
}

function instancesOf({ model, episodes }: Evaluation): ReadonlyMap<string, Instance> {
  const instances = new Map<string, Instance>();
  const seen = new Set<string>();
  for (const episode of episodes) {
    const key = `${episode.seed} ${episode.task}`;
    const sample = `${episode.sample} ${key}`;
    if (seen.has(sample)) throw twice(model, episode);
    seen.add(sample);
    const { task, group, seed } = episode;
    const instance = instances.get(key) ?? { task, group, seed, samples: 0, valid: 0, successes: 0 };
    instance.samples++;
    if (episode.result !== 'invalid') instance.valid++;
    if (episode.result === 'success') instance.successes++;
    instances.set(key, instance);
  }
  return instances;
}

function atLeast({ successes, samples }: Instance): number {
  return successes / samples;
}

function atMost({ successes, samples, valid }: Instance): number {
  return (successes + samples - valid) / samples;
}

function twice(model: string, { task, seed, sample }: EvaluatedEpisode): TabwrightError {
  return new TabwrightError(
    'config',
    `The evaluation of ${model} has two episodes of ${task} at seed ${seed}, sample ${sample}: it is no sample of anything.`,
    { code: 'episode-twice', details: { model, task, seed, sample } },
  );
}
