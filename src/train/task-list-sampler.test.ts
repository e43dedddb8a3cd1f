import { expect, it } from 'vitest';
import { createToyCheckboxes } from '../testing/index.ts';
import { createTaskListSampler } from './task-list-sampler.ts';

const env = createToyCheckboxes();
const tasks = Array.from({ length: 7 }, (_, seed) => env.task(seed));

it('a round shows distinct tasks, another order the next time, and no step shows one twice', () => {
  const sample = createTaskListSampler({ tasks, runSeed: 1 });
  const round = (first: number) => [0, 1].flatMap((i) => sample(first + i, 3)).map(({ id }) => id);
  expect(new Set(round(0)).size).toBe(6);
  expect(round(2)).not.toEqual(round(0));
  const seen = new Set([0, 2, 4, 6, 8, 10].flatMap(round));
  expect(seen.size).toBe(7);
  for (let step = 0; step < 20; step++) expect(new Set(sample(step, 5)).size).toBe(5);
});

it('depends on the seed and the step alone', () => {
  const sample = createTaskListSampler({ tasks, runSeed: 1 });
  expect(createTaskListSampler({ tasks, runSeed: 1 })(9, 3)).toEqual(sample(9, 3));
  expect(createTaskListSampler({ tasks, runSeed: 2 })(0, 3)).not.toEqual(sample(0, 3));
});

it('refuses steps that the list cannot fill', () => {
  expect(() => createTaskListSampler({ tasks, runSeed: 1 })(0, 8)).toThrow(/wants 8 different tasks, and there are 7/);
});
