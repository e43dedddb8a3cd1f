import { expect, test } from 'vitest';
import { cutAtStop, sayable } from './token-text.ts';

test('text ends where the first stop text begins', () => {
  expect(cutAtStop('one END two STOP', ['STOP', 'END'])).toBe('one ');
  expect(cutAtStop('one', ['END'])).toBe('one');
});

test('half a character and what may become a stop text wait', () => {
  expect(sayable('caf\ufffd', [])).toBe('caf');
  expect(sayable('one EN', ['END'])).toBe('one ');
  expect(sayable('one ENd', ['END'])).toBe('one ENd');
  expect(sayable('one END more', ['END'])).toBe('one ');
});
