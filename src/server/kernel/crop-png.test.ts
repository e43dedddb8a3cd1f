// Pixels in, pixels out, over every filter that the PNG specification knows.

import { deflateSync, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { cropPng } from './crop-png.ts';

const [WIDTH, HEIGHT, PIXEL] = [7, 5, 4];
const pixels = Array.from({ length: HEIGHT }, (_, y) =>
  Array.from({ length: WIDTH * PIXEL }, (_, i) => (y * 53 + i * 29 + ((i * y) % 7) * 11) % 256),
);

function byte(y: number, i: number): number {
  return y < 0 || i < 0 ? 0 : pixels[y][i];
}

/** Section 9.2 of the specification: what is subtracted by each filter. */
function predicted(filter: number, y: number, i: number): number {
  const [a, b, c] = [byte(y, i - PIXEL), byte(y - 1, i), i < PIXEL ? 0 : byte(y - 1, i - PIXEL)];
  const p = a + b - c;
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return [0, a, b, Math.floor((a + b) / 2), pa <= pb && pa <= pc ? a : pb <= pc ? b : c][filter];
}

function png(filters: readonly number[], colourType = 6): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, colourType, 0, 0, 0], 8);
  const lines = filters.map((filter, y) =>
    Buffer.from([filter, ...pixels[y].map((value, i) => value - predicted(filter, y, i))]),
  );
  const data = deflateSync(Buffer.concat(lines));
  const chunk = (type: string, body: Buffer): Buffer =>
    Buffer.concat([Buffer.from([0, 0, 0, body.length]), Buffer.from(type), body, Buffer.alloc(4)]);
  const half = data.length >> 1; // image data may come in several pieces
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', data.subarray(0, half)),
    chunk('IDAT', data.subarray(half)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

test.each([0, 1, 2, 3, 4])('a region of a picture whose lines have filter %i', (filter) => {
  const cut = Buffer.from(cropPng(png([filter, filter, 4, filter, 3]), { x: 2, y: 1, width: 3, height: 4 }));
  expect([cut.readUInt32BE(16), cut.readUInt32BE(20)]).toEqual([3, 4]);
  const start = cut.indexOf('IDAT') + 4;
  const data = inflateSync(cut.subarray(start, start + cut.readUInt32BE(start - 8)));
  const expected = pixels.slice(1, 5).flatMap((row) => [0, ...row.slice(2 * PIXEL, 5 * PIXEL)]);
  expect([...data]).toEqual(expected);
});

test('a region beyond the picture is refused with its size', () => {
  const region = { x: 5, y: 0, width: 3, height: 1 };
  expect(() => cropPng(png([0, 0, 0, 0, 0]), region)).toThrow('beyond the picture of 7x5 pixels');
});

test('a picture of another kind is refused', () => {
  expect(() => cropPng(png([0, 0, 0, 0, 0], 3), { x: 0, y: 0, width: 1, height: 1 })).toThrow('colour type 3');
});
