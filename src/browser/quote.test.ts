import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quote } from './quote.ts';

test('plain names stay as they are', () => {
  expect(quote('MRW 7 é 漢', '"')).toBe('"MRW 7 é 漢"');
  expect(quote(`it's`, '"')).toBe(`"it's"`);
});

test('the mark, the backslash and whatever breaks or reorders a line is escaped', () => {
  expect(quote('a" [checked] [3]\n\\\u2028\u202e\u0000\u200b', '"')).toBe(
    String.raw`"a\" [checked] [3]\u{a}\\\u{2028}\u{202e}\u{0}\u{200b}"`,
  );
  expect(quote(`it's "x"`, "'")).toBe(String.raw`'it\'s "x"'`);
});

test('no text can leave its quotes or its line, and different texts stay different', () => {
  const text = fc.string({
    unit: fc.oneof(fc.string({ unit: 'binary', maxLength: 1 }), fc.constantFrom(...'"\'\\\n\r[]u{}')),
  });
  fc.assert(
    fc.property(text, text, (first, second) => {
      const line = quote(first, '"');
      expect(line).toMatch(/^"(?:[^"\\\p{Cc}\p{Zl}\p{Zp}]|\\["\\]|\\u\{[0-9a-f]+\})*"$/u);
      expect(line === quote(second, '"')).toBe(first === second);
    }),
  );
});
