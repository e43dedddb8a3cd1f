import { expect, it } from 'vitest';
import { planEvaluation, type PlannableTask, type PlanOptions } from './evaluation-plan.ts';

const tasks = ['a', 'b', 'c', 'd', 'e', 'f'].map((id): PlannableTask => ({
  id,
  group: id,
  split: 'test',
  instance: (seed) => ({ id: `${id}/${seed}`, env: 'toy', instruction: id, seed }),
}));
const plan = (more: Partial<PlanOptions>): readonly string[] =>
  planEvaluation({ tasks, isSeeded: true, firstSeed: 100, ...more }).map(
    ({ request, sample }) => `${request.task.id}#${sample}`,
  );

it('plays every task at every seed, each sample of an instance in turn', () => {
  expect(plan({ tasks: tasks.slice(0, 2), seeds: 2, samples: 2 })).toEqual(
    ['a/100', 'b/100', 'a/101', 'b/101'].flatMap((id) => [`${id}#0`, `${id}#1`]),
  );
});

it('plays 200 instances of a task alone that has seeds, and one of each task of many', () => {
  expect(plan({ tasks: tasks.slice(0, 1) })).toHaveLength(200);
  expect(plan({})).toHaveLength(6);
});

it('takes as many seeds as the wanted episodes need, and the same part of the last round every time', () => {
  const chosen = plan({ episodes: 8 });
  expect(chosen.slice(0, 6)).toEqual(plan({}));
  expect(chosen.slice(6)).toHaveLength(2);
  expect(chosen.slice(6).every((id) => id.includes('/101'))).toBe(true);
  expect(plan({ episodes: 8 })).toEqual(chosen);
});

it('draws over all tasks rather than from the front where fewer are wanted', () => {
  const chosen = plan({ episodes: 3 });
  expect(chosen).toHaveLength(3);
  expect(chosen).not.toEqual(plan({}).slice(0, 3));
  expect([...chosen].sort()).toEqual(chosen);
});

it.each([
  [{ isSeeded: false, seeds: 3 }, /--seeds 3: .*--samples/],
  [{ isSeeded: false, episodes: 7 }, /--episodes 7: there are 6 instances, which have no seeds/],
  [{ seeds: 1, episodes: 7 }, /--episodes 7: there are 6 instances; raise --seeds/],
  [{ tasks: [] }, /no tasks/],
])('refuses %j', (more, message) => {
  expect(() => plan(more)).toThrow(message);
});
