import { expect, it } from 'vitest';
import { reduceMetrics } from './metric-reduction.ts';

const chunks = [
  {
    count: 3,
    metrics: { 'loss:sum': 1, 'a:mean': 2, 'b:max': 5, 'c:min': 4, 'd:slack': 1, 'e:unique': 7, 'f:hash2': 1 },
  },
  {
    count: 1,
    metrics: { 'loss:sum': 2, 'a:mean': 6, 'b:max': 3, 'c:min': 9, 'd:slack': 5, 'e:unique': 8, 'f:hash2': 2 },
  },
];

it('sums, weighted means, extremes, spread and separate values follow the suffix', () => {
  expect(reduceMetrics(chunks)).toEqual({
    'loss:sum': 3,
    'a:mean': 3,
    'b:max': 5,
    'c:min': 4,
    'd:slack': 3,
    'e:unique': 7,
    'e:unique_1': 8,
  });
});

it('a single chunk is left as it came, odd names included', () => {
  expect(reduceMetrics([{ count: 1, metrics: { odd: 1 } }])).toEqual({ odd: 1 });
});

it('what one chunk lacks is left out', () => {
  expect(reduceMetrics([chunks[0], { count: 1, metrics: { 'loss:sum': 2 } }])).toEqual({ 'loss:sum': 3 });
});
