// Which tasks a training step sees. Pure in the step number, so that a resumed run sees what it would have seen,
// and drawn from a range of seeds of its own, so that training and evaluation cannot meet.

import type { Env, Task } from '../core/index.ts';

export type TaskSamplerOptions = {
  readonly env: Pick<Env, 'task'>;
  /** First seed of the range. */
  readonly firstSeed: number;
  /** Class of a task; classes are drawn equally often. Default: all the same, tasks come in the order of seeds. */
  readonly balanceKey?: (task: Task) => string;
  /** Seeds looked at per task drawn: more of them fill rarer classes. Default 8. */
  readonly candidatesPerTask?: number;
};

/** Distinct tasks for a step, 0-based. */
export type TaskSampler = (step: number, count: number) => readonly Task[];

export function createTaskSampler(options: TaskSamplerOptions): TaskSampler {
  const { env, firstSeed, balanceKey = () => '', candidatesPerTask = 8 } = options;
  return (step, count) => {
    const block = count * candidatesPerTask;
    const classes = new Map<string, Task[]>();
    for (let i = 0; i < block; i++) {
      const task = env.task(firstSeed + step * block + i);
      const key = balanceKey(task);
      classes.set(key, [...(classes.get(key) ?? []), task]);
    }
    const queues = [...classes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tasks]) => tasks);
    // Rounds start at another class each step, so that a count that does not divide favours none in the long run.
    const drawn: Task[] = [];
    for (let i = step; drawn.length < count; i++) {
      const task = queues[i % queues.length].shift();
      if (task !== undefined) drawn.push(task);
    }
    return drawn;
  };
}
