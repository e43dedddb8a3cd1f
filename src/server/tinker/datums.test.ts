import { expect, test } from 'vitest';
import { wireMetrics } from './datums.ts';

test('names of metrics get exactly one colon, without which clients fail', () => {
  expect(wireMetrics({ 'loss:sum': 1, tokens: 2, 'a:b:max': 3 })).toEqual({
    'loss:sum': 1,
    'tokens:mean': 2,
    'a/b:max': 3,
  });
});
