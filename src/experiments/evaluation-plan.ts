// Which episodes an evaluation plays, before any is played: the same words give the same plan on every machine, so that
// two evaluations meet on the same instances. Pure.

import { TabwrightError, type Task } from '../core/index.ts';
import type { EpisodeRequest } from '../rollout/index.ts';
import { createRng } from '../util/index.ts';

export type PlannableTask = {
  readonly id: string;
  readonly group: string;
  readonly split: 'train' | 'test' | null;
  instance(seed: number): Task;
};

export type PlannedEpisode = {
  readonly task: string;
  readonly group: string;
  readonly split: 'train' | 'test' | null;
  readonly seed: number;
  readonly sample: number;
  readonly request: EpisodeRequest;
};

export type PlanOptions = {
  readonly tasks: readonly PlannableTask[];
  /** Whether seeds give instances of a task that differ. */
  readonly isSeeded: boolean;
  readonly firstSeed: number;
  /** Instances of each task. Default: 1, or as many as `episodes` asks for. */
  readonly seeds?: number | undefined;
  /** Instances in all. Default: all there are; of a task alone that has seeds, 200. */
  readonly episodes?: number | undefined;
  /** Tries at each instance. Default 1. */
  readonly samples?: number | undefined;
};

const DEFAULT_INSTANCES = 200;

/** By seed, then in the order of the tasks, then by sample. Fewer instances than there are: drawn evenly over the tasks. */
export function planEvaluation(options: PlanOptions): readonly PlannedEpisode[] {
  const { tasks, isSeeded, firstSeed, samples = 1 } = options;
  if (tasks.length === 0) {
    throw new TabwrightError('config', 'There are no tasks to evaluate on: choose another --split.', {
      code: 'no-tasks',
    });
  }
  const seeds = seedCount(options);
  const instances = Array.from({ length: seeds }, (_, i) =>
    tasks.map((task) => ({ task, seed: firstSeed + i })),
  ).flat();
  const wanted = options.episodes ?? instances.length;
  if (wanted > instances.length) {
    throw new TabwrightError(
      'config',
      `--episodes ${wanted}: there are ${instances.length} instances${isSeeded ? '; raise --seeds' : ', which have no seeds; play each more often with --samples'}.`,
      { code: 'too-many-episodes', details: { episodes: wanted, instances: instances.length } },
    );
  }
  return choose(instances, wanted, tasks.length).flatMap(({ task, seed }) => {
    const instance = task.instance(seed);
    const { id, group, split } = task;
    return Array.from({ length: samples }, (_, sample) => ({
      task: id,
      group,
      split,
      seed,
      sample,
      request: { task: instance, member: sample },
    }));
  });
}

function seedCount({ tasks, isSeeded, seeds, episodes }: PlanOptions): number {
  if (!isSeeded) {
    if (seeds === undefined || seeds === 1) return 1;
    throw new TabwrightError(
      'config',
      `--seeds ${seeds}: the tasks here have one instance each; play it more often with --samples.`,
      { code: 'no-seeds', details: { seeds } },
    );
  }
  if (seeds !== undefined) return seeds;
  if (episodes !== undefined) return Math.ceil(episodes / tasks.length);
  return tasks.length === 1 ? DEFAULT_INSTANCES : 1;
}

/** Whole rounds of the tasks first; of the last one those that a shuffle, the same for every run, puts in front. */
function choose<T>(instances: readonly T[], wanted: number, round: number): readonly T[] {
  const whole = wanted - (wanted % round);
  const rest = instances.slice(whole, whole + round).map((instance, i) => ({ instance, i }));
  const chosen = createRng('evaluation', round)
    .shuffle(rest)
    .slice(0, wanted - whole);
  return [...instances.slice(0, whole), ...chosen.sort((a, b) => a.i - b.i).map(({ instance }) => instance)];
}
