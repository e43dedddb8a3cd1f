// Measures a policy on given seeds, one episode each. Learns nothing and decides nothing: intervals and comparisons
// are made of the trajectories later, paired by seed.

import type { Trajectory } from '../core/index.ts';
import { stageEpisodes, type StageEpisodesOptions } from './stage-episodes.ts';

export type EvaluateOptions = Omit<StageEpisodesOptions, 'requests'> & {
  /** The same at every stage, so that stages can be compared seed by seed. */
  readonly seeds: readonly number[];
};

/** One trajectory per seed, in the order of the seeds. */
export function evaluate(options: EvaluateOptions): Promise<readonly Trajectory[]> {
  const requests = options.seeds.map((seed) => ({ task: options.env.task(seed), member: 0 }));
  return stageEpisodes({ ...options, requests });
}
