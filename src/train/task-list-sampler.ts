// Which tasks of a list a training step sees: all of them in a new order each time round. Pure in the step number, so that
// a resumed run sees what it would have seen. For tasks without end see `task-sampler.ts`.

import { TabwrightError, type Task } from '../core/index.ts';
import { createRng } from '../util/index.ts';
import type { TaskSampler } from './task-sampler.ts';

export type TaskListSamplerOptions = { readonly tasks: readonly Task[]; readonly runSeed: number };

/**
 * Each step's tasks are distinct: a round has as many whole steps as the list allows, and what is left over sits out until
 * the next round, whose order is another one.
 */
export function createTaskListSampler({ tasks, runSeed }: TaskListSamplerOptions): TaskSampler {
  return (step, count) => {
    if (count > tasks.length) {
      throw new TabwrightError(
        'config',
        `A step wants ${count} different tasks, and there are ${tasks.length}: lower --groups, or add tasks.`,
        { code: 'too-few-tasks', details: { wanted: count, tasks: tasks.length } },
      );
    }
    const steps = Math.floor(tasks.length / count);
    const order = createRng('tasks', runSeed, Math.floor(step / steps)).shuffle([...tasks]);
    const first = (step % steps) * count;
    return order.slice(first, first + count);
  };
}
