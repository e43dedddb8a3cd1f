// Which pictures are shown: by rule, with a record, and under the label of what they are.

import { expect, it } from 'vitest';
import { choosePictures, evenly, mimeTypeOf } from './pictures.ts';

const limits = { maxPictures: 50, maxPictureBytes: 100, maxAllPictureBytes: 1_000 };
const png = (...more: readonly number[]): Uint8Array =>
  Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...more]);
const jpeg = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0]);

it('a JPEG is not called a PNG', () => {
  expect([mimeTypeOf(png()), mimeTypeOf(jpeg), mimeTypeOf(Buffer.from('RIFF....WEBPVP8 '))]).toEqual([
    'image/png',
    'image/jpeg',
    'image/webp',
  ]);
  expect(mimeTypeOf(Buffer.from('<html>'))).toBeUndefined();
  expect(choosePictures([jpeg], limits).shown[0].part.mimeType).toBe('image/jpeg');
});

it('what is left out is recorded with its reason, and numbers are those of the episode', () => {
  const { shown, omitted } = choosePictures(
    [png(1), png(1), png(2), Buffer.from('no picture'), png(...new Array<number>(200).fill(0)), png(1)],
    limits,
  );
  expect(shown.map(({ number }) => number)).toEqual([2, 3, 6]);
  expect(omitted).toEqual({ repeated: [1], unreadable: [4], tooLarge: [5], surplus: [] });
});

it('of too many the first, the last and evenly between', () => {
  expect(evenly(10, 4)).toEqual([0, 3, 6, 9]);
  expect([evenly(3, 3), evenly(3, 0), evenly(3, 1)]).toEqual([[0, 1, 2], [], [2]]);
  const { shown, omitted } = choosePictures(
    Array.from({ length: 10 }, (_, index) => png(index)),
    { ...limits, maxPictures: 4 },
  );
  expect(shown.map(({ number }) => number)).toEqual([1, 4, 7, 10]);
  expect(omitted.surplus).toEqual([2, 3, 5, 6, 8, 9]);
});

it('fewer where they are too large together, the last one in any case', () => {
  const large = Array.from({ length: 10 }, (_, index) => png(index, ...new Array<number>(81).fill(0)));
  const numbers = (maxAllPictureBytes: number): readonly number[] =>
    choosePictures(large, { ...limits, maxAllPictureBytes }).shown.map(({ number }) => number);
  expect([numbers(1_000).length, numbers(360), numbers(100), numbers(10)]).toEqual([10, [1, 4, 7, 10], [10], [10]]);
});
