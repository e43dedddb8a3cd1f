// Blocks of ggml's quantised types to 32-bit floats, every product rounded as the reference does it, so that results
// are equal to the bit. Source: ggml-quants.c (`dequantize_row_*`) for the layouts; checked against PyPI's `gguf`.

import { decodeBF16, decodeF16, f16Value } from './half-floats.ts';

const fround = Math.fround;

/** Fills `into` from whole blocks. `type` is one of `READABLE_TYPES` by name. */
export function dequantise(type: string, bytes: Uint8Array, into: Float32Array): void {
  switch (type) {
    case 'F32':
      new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes);
      return;
    case 'F16':
    case 'BF16': {
      const aligned = bytes.byteOffset % 2 === 0 ? bytes : Uint8Array.from(bytes);
      const halves = new Uint16Array(aligned.buffer, aligned.byteOffset, into.length);
      if (type === 'F16') decodeF16(halves, into);
      else decodeBF16(halves, into);
      return;
    }
    case 'Q8_0':
      return eightBit(bytes, into);
    case 'Q4_0':
      return fourBit(bytes, into, { blockBytes: 18, least: false });
    case 'Q4_1':
      return fourBit(bytes, into, { blockBytes: 20, least: true });
    case 'Q5_0':
      return fiveBit(bytes, into, { blockBytes: 22, least: false });
    case 'Q5_1':
      return fiveBit(bytes, into, { blockBytes: 24, least: true });
    case 'Q4_K':
      return superBlocks(bytes, into, { blockBytes: 144, fifthBit: false });
    case 'Q5_K':
      return superBlocks(bytes, into, { blockBytes: 176, fifthBit: true });
    case 'Q6_K':
      return sixBit(bytes, into);
    default:
      throw new Error(`internal: no dequantiser of ${type}`);
  }
}

const halfAt = (bytes: Uint8Array, at: number): number => f16Value(bytes[at] | (bytes[at + 1] << 8));
const signed = (byte: number): number => (byte << 24) >> 24;

/** 32 bytes with one scale. */
function eightBit(bytes: Uint8Array, into: Float32Array): void {
  for (let at = 0, out = 0; out < into.length; at += 34, out += 32) {
    const scale = halfAt(bytes, at);
    for (let i = 0; i < 32; i++) into[out + i] = scale * signed(bytes[at + 2 + i]);
  }
}

/** 16 bytes: elements 0-15 in the low halves, 16-31 in the high ones; counted from -8, or from a least value. */
function fourBit(
  bytes: Uint8Array,
  into: Float32Array,
  { blockBytes, least }: { readonly blockBytes: number; readonly least: boolean },
): void {
  const from = least ? 4 : 2;
  const bias = least ? 0 : 8;
  for (let at = 0, out = 0; out < into.length; at += blockBytes, out += 32) {
    const scale = halfAt(bytes, at);
    const minimum = least ? halfAt(bytes, at + 2) : 0;
    for (let i = 0; i < 16; i++) {
      const byte = bytes[at + from + i];
      into[out + i] = fround(scale * ((byte & 15) - bias)) + minimum;
      into[out + i + 16] = fround(scale * ((byte >> 4) - bias)) + minimum;
    }
  }
}

/** As four bits, the fifth of element i being bit i of 32 that come before. */
function fiveBit(
  bytes: Uint8Array,
  into: Float32Array,
  { blockBytes, least }: { readonly blockBytes: number; readonly least: boolean },
): void {
  const bits = least ? 4 : 2;
  const bias = least ? 0 : 16;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0, out = 0; out < into.length; at += blockBytes, out += 32) {
    const scale = halfAt(bytes, at);
    const minimum = least ? halfAt(bytes, at + 2) : 0;
    const high = view.getUint32(at + bits, true);
    for (let i = 0; i < 16; i++) {
      const byte = bytes[at + bits + 4 + i];
      const low = (byte & 15) | (((high >>> i) & 1) << 4);
      const upper = (byte >> 4) | (((high >>> (i + 16)) & 1) << 4);
      into[out + i] = fround(scale * (low - bias)) + minimum;
      into[out + i + 16] = fround(scale * (upper - bias)) + minimum;
    }
  }
}

/** Q4_K and Q5_K: 256 elements, eight groups of 32 with 6-bit scales and least values of their own. */
function superBlocks(
  bytes: Uint8Array,
  into: Float32Array,
  { blockBytes, fifthBit }: { readonly blockBytes: number; readonly fifthBit: boolean },
): void {
  const scales = new Uint8Array(8);
  const minima = new Uint8Array(8);
  for (let at = 0, out = 0; out < into.length; at += blockBytes, out += 256) {
    const scale = halfAt(bytes, at);
    const minimumScale = halfAt(bytes, at + 2);
    unpackScales(bytes, at + 4, scales, minima);
    const highBits = at + 16;
    const lowBits = at + (fifthBit ? 48 : 16);
    for (let group = 0; group < 8; group++) {
      const step = fround(scale * scales[group]);
      const minimum = fround(minimumScale * minima[group]);
      // Two groups share 32 bytes: the even one has the low halves.
      const quarters = lowBits + (group >> 1) * 32;
      const shift = group % 2 === 0 ? 0 : 4;
      for (let i = 0; i < 32; i++) {
        let value = (bytes[quarters + i] >> shift) & 15;
        if (fifthBit) value |= ((bytes[highBits + i] >> group) & 1) << 4;
        into[out + group * 32 + i] = fround(step * value) - minimum;
      }
    }
  }
}

/** Twelve bytes hold eight 6-bit scales and eight 6-bit least values; the upper two bits of the first four carry the last four's. */
function unpackScales(bytes: Uint8Array, at: number, scales: Uint8Array, minima: Uint8Array): void {
  for (let i = 0; i < 4; i++) {
    scales[i] = bytes[at + i] & 63;
    minima[i] = bytes[at + 4 + i] & 63;
    scales[i + 4] = (bytes[at + 8 + i] & 15) | ((bytes[at + i] >> 6) << 4);
    minima[i + 4] = (bytes[at + 8 + i] >> 4) | ((bytes[at + 4 + i] >> 6) << 4);
  }
}

/** Q6_K: 256 elements, sixteen groups of 16 with 8-bit scales; 128 bytes of low halves, 64 of upper bit pairs. */
function sixBit(bytes: Uint8Array, into: Float32Array): void {
  for (let at = 0, out = 0; out < into.length; at += 210, out += 256) {
    const scale = halfAt(bytes, at + 208);
    for (let half = 0; half < 2; half++) {
      const low = at + half * 64;
      const high = at + 128 + half * 32;
      const scales = at + 192 + half * 8;
      for (let quarter = 0; quarter < 4; quarter++) {
        const shift = quarter < 2 ? 0 : 4;
        const row = low + (quarter % 2) * 32;
        for (let i = 0; i < 32; i++) {
          const value = ((bytes[row + i] >> shift) & 15) | (((bytes[high + i] >> (quarter * 2)) & 3) << 4);
          const step = fround(scale * signed(bytes[scales + quarter * 2 + (i >> 4)]));
          into[out + half * 128 + quarter * 32 + i] = step * (value - 32);
        }
      }
    }
  }
}
