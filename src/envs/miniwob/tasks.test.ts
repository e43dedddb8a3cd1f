import { expect, test } from 'vitest';
import { MINIWOB_ORACLES } from './oracles/index.ts';
import { MINIWOB_TASKS, miniwobTask } from './tasks.ts';

test('there are the 125 registered tasks, in BrowserGym’s halves of 62 and 63', () => {
  expect(new Set(MINIWOB_TASKS.map(({ name }) => name)).size).toBe(125);
  expect(MINIWOB_TASKS.filter(({ split }) => split === 'train')).toHaveLength(62);
  expect(MINIWOB_TASKS.filter(({ split }) => split === 'test')).toHaveLength(63);
  expect(miniwobTask('click-checkboxes').split).toBe('train');
  expect(MINIWOB_TASKS.filter(({ name }) => name.startsWith('email-inbox')).map(({ split }) => split)).toEqual(
    Array<string>(10).fill('test'),
  );
});

test('thresholds below 1 are those of drawing and colours', () => {
  expect(MINIWOB_TASKS.filter(({ threshold }) => threshold !== 1).map(({ name }) => name)).toEqual(
    'bisect-angle circle-center draw-circle draw-line find-midpoint right-angle use-colorwheel use-colorwheel-2'.split(
      ' ',
    ),
  );
});

test('every task has an oracle, and no oracle lacks its task', () => {
  expect(Object.keys(MINIWOB_ORACLES).sort()).toEqual(MINIWOB_TASKS.map(({ name }) => name));
});

test('pages without registration, and other names, are refused', () => {
  for (const name of ['chase-circle', 'flight.AA', 'nothing'])
    expect(() => miniwobTask(name)).toThrow(/no registered task/);
});
