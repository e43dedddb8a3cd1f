import { expect, it } from 'vitest';
import { printable } from './printable.ts';

it('keeps text, line breaks and tabs, and writes out what would act on a terminal', () => {
  expect(printable('Tea ☕ é\r\n\tnext')).toBe('Tea ☕ é\n\tnext');
  expect(printable('\u001b[2J\u0007\rback\u202egnp')).toBe('\\u{1b}[2J\\u{7}\\u{d}back\\u{202e}gnp');
});
