// A part of a picture that Chromium made: 8-bit RGB or RGBA, not interlaced (PNG specification, sections 9 and 11).
// No general decoder: what Chromium does not write is refused.

import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { failure } from './failures.ts';
import type { Region } from './schemas.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Bytes of a pixel by colour type. */
const PIXEL_BYTES: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

export function cropPng(png: Uint8Array, region: Region): Uint8Array {
  const image = decode(Buffer.from(png.buffer, png.byteOffset, png.byteLength));
  const { x, y, width, height } = region;
  if (x + width > image.width || y + height > image.height) {
    throw failure('bad-request', `The region reaches beyond the picture of ${image.width}x${image.height} pixels.`);
  }
  const { pixelBytes, rows } = image;
  const lines = Array.from({ length: height }, (_, line) => {
    const row = rows[y + line].subarray(x * pixelBytes, (x + width) * pixelBytes);
    return Buffer.concat([Buffer.of(0), row]); // filter 0: none
  });
  const header = Buffer.from(image.header);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

type Image = {
  readonly width: number;
  readonly height: number;
  readonly pixelBytes: number;
  readonly header: Buffer;
  /** Without filters. */
  readonly rows: readonly Buffer[];
};

function decode(png: Buffer): Image {
  if (!png.subarray(0, 8).equals(SIGNATURE)) throw new Error('not a PNG');
  const chunks = new Map<string, Buffer[]>();
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    chunks.set(type, [...(chunks.get(type) ?? []), png.subarray(at + 8, at + 8 + length)]);
    at += length + 12;
  }
  const header = chunks.get('IHDR')![0];
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const pixelBytes = PIXEL_BYTES[header[9]];
  if (header[8] !== 8 || pixelBytes === undefined || header[12] !== 0) {
    throw new Error(`a PNG of depth ${header[8]}, colour type ${header[9]}, interlace ${header[12]}`);
  }
  const data = inflateSync(Buffer.concat(chunks.get('IDAT') ?? []));
  const stride = width * pixelBytes;
  const rows: Buffer[] = [];
  let above: Buffer = Buffer.alloc(stride);
  for (let line = 0; line < height; line++) {
    const at = line * (stride + 1);
    const row = data.subarray(at + 1, at + 1 + stride);
    removeFilter({ filter: data[at], row, above, pixelBytes });
    rows.push(row);
    above = row;
  }
  return { width, height, pixelBytes, header, rows };
}

type FilteredRow = {
  readonly filter: number;
  /** Changed in place. */
  readonly row: Buffer;
  readonly above: Buffer;
  readonly pixelBytes: number;
};

/** Every byte was written as its difference from a guess by its neighbours: left, above, and above left. */
function removeFilter({ filter, row, above, pixelBytes }: FilteredRow): void {
  for (let i = 0; i < row.length; i++) {
    const left = i < pixelBytes ? 0 : row[i - pixelBytes];
    const corner = i < pixelBytes ? 0 : above[i - pixelBytes];
    row[i] += guess(filter, left, above[i], corner);
  }
}

function guess(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) throw new Error(`filter ${filter} of a PNG`);
  const estimate = left + up - corner;
  const [toLeft, toUp, toCorner] = [left, up, corner].map((value) => Math.abs(estimate - value));
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
