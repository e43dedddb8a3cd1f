import { expect, it } from 'vitest';
import { judgingOf, judgingParams } from './task-judging.ts';

it('travels with the task, and says whose record is damaged', () => {
  const judging = { criteria: 'The order is placed.', rubric: [{ id: 'r', description: 'd', facts: ['f'] }] };
  expect(judgingOf({ id: 'shop/1', params: judgingParams(judging) })).toEqual(judging);
  expect(judgingOf({ id: 'shop/1', params: judgingParams({}) })).toEqual({});
  expect(() => judgingOf({ id: 'shop/1', params: { judging: { criteria: 7 } } })).toThrow(
    /task shop\/1 .* cannot be read/s,
  );
});
