import { expect, test } from 'vitest';
import { compact, duration, percent, percentRange, points, pointsRange, pValue } from './format.ts';

/** No-break spaces shown as `_`, so that they can be told from others. */
const shown = (text: string): string => text.replaceAll('\u00a0', '_');

test.each([
  [0, '0.0_%'],
  [0.915, '91.5_%'],
  [1, '100.0_%'],
  [0.00049, '0.0_%'],
  [2 / 3, '66.7_%'],
])('the share %d is %s', (share, text) => {
  expect(shown(percent(share))).toBe(text);
});

test('a range of shares has its unit once', () => {
  expect(shown(percentRange([0.862, 0.945]))).toBe('86.2 to 94.5_%');
});

test.each([
  [0.125, '+12.5_pts'],
  [-0.125, '\u221212.5_pts'],
  [0, '0.0_pts'],
  [-0.0004, '0.0_pts'], // no minus before a zero
  [-0.0006, '\u22120.1_pts'],
])('the difference %d is %s', (difference, text) => {
  expect(shown(points(difference))).toBe(text);
});

test('a range of differences has a sign at both ends', () => {
  expect(shown(pointsRange([-0.02, 0.31]))).toBe('\u22122.0 to +31.0');
});

test.each([
  [1, '1.000'],
  [0.0123, '0.012'],
  [0.001, '0.001'],
  [0.00099, '<_0.001'],
  [0, '<_0.001'],
])('the p-value %d is %s', (p, text) => {
  expect(shown(pValue(p))).toBe(text);
});

test.each([
  [0, '0_s'],
  [59.4, '59_s'],
  [59.5, '1_min 0_s'],
  [75, '1_min 15_s'],
  [3599, '59_min 59_s'],
  [3599.5, '1_h 0_min'],
  [3661, '1_h 1_min'],
  [90_000, '25_h 0_min'],
])('%d seconds are %s', (seconds, text) => {
  expect(shown(duration(seconds))).toBe(text);
});

test.each([
  [0, '0'],
  [1, '1'],
  [-2.5, '-2.5'],
  [12.345, '12.3'],
  [1234.5, '1230'],
  [9994, '9990'],
  [9999.9, '10k'],
  [12_345, '12.3k'],
  [-12_345, '-12.3k'],
  [999_400, '999k'],
  [999_600, '1M'],
  [1_234_567, '1.23M'],
  [0.001, '0.001'],
  [0.00012345, '1.23e-4'],
  [-0.00012345, '-1.23e-4'],
])('%d in short is %s', (value, text) => {
  expect(compact(value)).toBe(text);
});
