// What `repl.emitImage` accepts, as bytes with their type: a data URL, bytes of any realm, or an object naming bytes or
// a file. The type is read from the bytes where it is not given; only images that models take are recognised.

import { readFile, stat } from 'node:fs/promises';
import { types } from 'node:util';
import { LIMITS } from './limits.ts';

export type Image = { readonly mimeType: string; readonly bytes: Uint8Array };

/** Throws `TypeError` for what is no image, `RangeError` for one that is too large. */
export async function readImage(input: unknown): Promise<Image> {
  if (typeof input === 'string') return fromDataUrl(input);
  const bytes = asBytes(input);
  if (bytes !== undefined) return withType(bytes, undefined);
  if (typeof input === 'object' && input !== null) {
    const { bytes: given, path, mimeType } = input as { bytes?: unknown; path?: unknown; mimeType?: unknown };
    const inside = asBytes(given);
    if (inside !== undefined) return withType(inside, mimeType);
    if (typeof path === 'string') {
      checkSize((await stat(path)).size);
      return withType(await readFile(path), mimeType);
    }
  }
  throw new TypeError('emitImage: expected a data:image/*;base64 URL, bytes, {bytes, mimeType?} or {path, mimeType?}');
}

function fromDataUrl(url: string): Image {
  const match = /^data:(image\/[^;,]+);base64,([A-Za-z0-9+/=\s]*)$/.exec(url);
  if (match === null) throw new TypeError('emitImage: a string must be a data:image/*;base64 URL');
  return withType(Buffer.from(match[2], 'base64'), match[1]);
}

function asBytes(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  return undefined;
}

function withType(bytes: Uint8Array, given: unknown): Image {
  checkSize(bytes.byteLength);
  if (given === undefined) {
    const mimeType = sniff(bytes);
    if (mimeType === undefined) {
      throw new TypeError('emitImage: the bytes are no PNG, JPEG or WebP; pass {bytes, mimeType} for another format');
    }
    return { mimeType, bytes };
  }
  if (typeof given !== 'string' || given.length > 128 || !/^image\/[A-Za-z0-9!#$&^_.+-]+$/.test(given)) {
    throw new TypeError('emitImage: mimeType must be image/<name> of at most 128 characters');
  }
  return { mimeType: given, bytes };
}

function checkSize(size: number): void {
  if (size <= LIMITS.imageBytes) return;
  throw new RangeError(`emitImage: the image has ${size} bytes; the limit is ${LIMITS.imageBytes}`);
}

function sniff(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(12, bytes.byteLength)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (start.startsWith('RIFF') && start.slice(8) === 'WEBP') return 'image/webp';
  return undefined;
}
