// A policy's own episodes, or a teacher's in the policy's words, to be imitated: run once per task, kept when they were
// solved. What counts as solved and what of an episode is kept is decided in `algorithms/demonstrations`.

import type { Task, Trajectory } from '../core/index.ts';
import { demonstrations, type Demonstration, type DemonstrationOptions } from '../algorithms/index.ts';
import { stageEpisodes, type StageEpisodesOptions } from './stage-episodes.ts';

export type CollectOptions = Omit<StageEpisodesOptions, 'requests'> &
  DemonstrationOptions & {
    /** One that comes again is played with other draws. */
    readonly tasks: readonly Task[];
  };

export type Collection = {
  readonly trajectories: readonly Trajectory[];
  /** Rows to imitate. */
  readonly rows: readonly Demonstration[];
};

export async function collect(options: CollectOptions): Promise<Collection> {
  const times = new Map<string, number>();
  const requests = options.tasks.map((task) => {
    const member = times.get(task.id) ?? 0;
    times.set(task.id, member + 1);
    return { task, member };
  });
  const trajectories = await stageEpisodes({ ...options, requests });
  return { trajectories, rows: demonstrations(trajectories, options) };
}
