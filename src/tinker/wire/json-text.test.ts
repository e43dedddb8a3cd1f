import { expect, it } from 'vitest';
import { formatJson, parseJson } from './json-text.ts';

it('whole numbers beyond 2^53 come out exact, others as numbers', () => {
  const text =
    '{"a":1000000000000000005,"b":[-9007199254740993, 9007199254740991],"c":1234567890.12345678901234,"d":1e20}';
  expect(parseJson(text)).toEqual({
    a: 1000000000000000005n,
    b: [-9007199254740993n, 9007199254740991],
    c: 1234567890.12345678901234,
    d: 1e20,
  });
});

it('digits inside of texts are left alone, quotes and backslashes before them too', () => {
  const value = { 'k"1000000000000000005': 'x\\', y: '1000000000000000005', z: '\\"1000000000000000005' };
  expect(parseJson(`{"n":1000000000000000007,"v":${JSON.stringify(value)}}`)).toEqual({
    n: 1000000000000000007n,
    v: value,
  });
});

it('bigints are written as the numbers that they are', () => {
  expect(formatJson({ seq_id: 2n ** 63n, seed: 5n, text: 'a' })).toBe(
    '{"seq_id":9223372036854775808,"seed":5,"text":"a"}',
  );
});

it('numbers that are not finite are refused in both directions, with their name', () => {
  expect(() => parseJson('{"a":NaN}')).toThrow('NaN and Infinity are no JSON');
  expect(() => formatJson({ weight: Infinity })).toThrow('"weight": Infinity is no JSON number');
});

it('what JSON refuses stays refused where long numbers are in it', () => {
  expect(() => parseJson('[1000000000000000005,01000000000000000005]')).toThrow('it is no JSON');
});
