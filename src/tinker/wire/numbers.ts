// Little-endian arrays of numbers in bytes and back. Bytes of a message start anywhere, so they are copied rather than
// viewed; on a big-endian machine they are swapped.

import { malformed, unsendable } from './wire-error.ts';

const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

export function int32Bytes(values: ArrayLike<number>): Uint8Array {
  const ints = values instanceof Int32Array ? values.slice() : Int32Array.from(values);
  return bytesOf(ints, 4);
}

export function float32Bytes(values: ArrayLike<number>): Uint8Array {
  const floats = values instanceof Float32Array ? values.slice() : Float32Array.from(values);
  return bytesOf(floats, 4);
}

/** Whole numbers up to 2^53 as 64-bit ones. */
export function int64Bytes(values: ArrayLike<number>, where: string): Uint8Array {
  const out = new Uint8Array(values.length * 8);
  const view = new DataView(out.buffer);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (!Number.isSafeInteger(value)) throw unsendable(`${where}[${i}]`, `${value} is no exact whole number`);
    view.setInt32(i * 8, value | 0, true);
    view.setInt32(i * 8 + 4, Math.floor(value / 2 ** 32), true);
  }
  return out;
}

export function readInt32(bytes: Uint8Array, where: string): Int32Array {
  return new Int32Array(aligned(bytes, 4, where));
}

export function readFloat32(bytes: Uint8Array, where: string): Float32Array {
  return new Float32Array(aligned(bytes, 4, where));
}

/** The upper half of a float32 each. */
export function readBfloat16(bytes: Uint8Array, where: string): Float32Array {
  const halves = new Uint16Array(aligned(bytes, 2, where));
  const wide = new Uint32Array(halves.length);
  for (let i = 0; i < halves.length; i++) wide[i] = halves[i] << 16;
  return new Float32Array(wide.buffer);
}

export function readInt64(bytes: Uint8Array, where: string): Float64Array {
  checkMultiple(bytes, 8, where);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out = new Float64Array(bytes.length / 8);
  for (let i = 0; i < out.length; i++) {
    const value = view.getInt32(i * 8 + 4, true) * 2 ** 32 + view.getUint32(i * 8, true);
    if (!Number.isSafeInteger(value)) throw malformed(`${where}[${i}]`, 'a whole number beyond 2^53');
    out[i] = value;
  }
  return out;
}

function bytesOf(values: Int32Array | Float32Array, width: number): Uint8Array {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return LITTLE_ENDIAN ? bytes : swap(bytes, width);
}

function aligned(bytes: Uint8Array, width: number, where: string): ArrayBuffer {
  checkMultiple(bytes, width, where);
  const copy = new Uint8Array(bytes);
  return (LITTLE_ENDIAN ? copy : swap(copy, width)).buffer as ArrayBuffer;
}

function checkMultiple(bytes: Uint8Array, width: number, where: string): void {
  if (bytes.length % width !== 0) throw malformed(where, `${bytes.length} bytes are no whole number of ${width}`);
}

function swap(bytes: Uint8Array, width: number): Uint8Array {
  for (let start = 0; start < bytes.length; start += width) bytes.subarray(start, start + width).reverse();
  return bytes;
}
