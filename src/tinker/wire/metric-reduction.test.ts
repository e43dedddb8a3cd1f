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
    'f:hash2': 3,
  });
});

it('checksums add up modulo 2^64 whatever their order, as in SDK 0.38, negative ones too', () => {
  const of = (name: string, ...values: readonly number[]): unknown =>
    reduceMetrics(values.map((value) => ({ count: 1, metrics: { [name]: value } })))[name];
  expect(of('h:hash2', 2 ** 63, 2 ** 63, 5)).toBe(5);
  expect(of('h:hash2', 7, -3)).toBe(4);
  expect(of('h:hash2', -3)).toBe(-3);
  expect(of('h:hash_unordered', 1.9, 2)).toBe(3);
});

it('a reduction that is not known keeps every value', () => {
  const chunk = (value: number) => ({ count: 1, metrics: { 'g:median': value } });
  expect(reduceMetrics([chunk(1), chunk(2), chunk(4)])).toEqual({ 'g:median': 1, 'g:median_1': 2, 'g:median_2': 4 });
});

it('a single chunk is left as it came, odd names included', () => {
  expect(reduceMetrics([{ count: 1, metrics: { odd: 1 } }])).toEqual({ odd: 1 });
});

it('what one chunk lacks is left out', () => {
  expect(reduceMetrics([chunks[0], { count: 1, metrics: { 'loss:sum': 2 } }])).toEqual({ 'loss:sum': 3 });
});
