import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFrameReader, encodeFrame, FrameError } from './frames.ts';

test('frames come out as they went in, however the bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat(40)), (texts, cuts) => {
      const bytes = Buffer.concat(texts.map(encodeFrame));
      const seen: string[] = [];
      const read = createFrameReader(1000, (text) => seen.push(text));
      let at = 0;
      for (const cut of cuts) {
        read(bytes.subarray(at, at + cut));
        at += cut;
      }
      read(bytes.subarray(at));
      expect(seen).toEqual(texts);
    }),
  );
});

test('a length above the limit is refused before its bytes come', () => {
  const read = createFrameReader(10, () => undefined);
  expect(() => read(Buffer.from([0, 0, 0, 11]))).toThrow(FrameError);
});
