import fc from 'fast-check';
import { expect, test } from 'vitest';
import { truncateToBytes } from './limits.ts';

test('a text is cut to its longest start of whole characters that fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, bytes) => {
      let longest = '';
      for (const character of text) {
        if (Buffer.byteLength(longest + character) > bytes) break;
        longest += character;
      }
      expect(truncateToBytes(text, bytes)).toBe(longest);
    }),
  );
});
