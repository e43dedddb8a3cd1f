// 32-bit floats to the types in which GGUF files are written here: F32, F16 and Q8_0 (blocks of 32 bytes with one
// scale, ggml-quants.c `quantize_row_q8_0_ref`). Rounding is the reference's, to the bit.

import { encodeF16 } from './half-floats.ts';
import type { WrittenType } from './gguf-types.ts';

const fround = Math.fround;
const BLOCK = 32;

export function bytesOf(type: WrittenType, elements: number): number {
  return type === 'Q8_0' ? (elements / BLOCK) * 34 : elements * (type === 'F16' ? 2 : 4);
}

export function quantise(type: WrittenType, values: Float32Array): Uint8Array {
  if (type === 'F32') return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  if (type === 'Q8_0') return eightBit(values);
  const halves = new Uint16Array(values.length);
  encodeF16(values, halves);
  return new Uint8Array(halves.buffer);
}

function eightBit(values: Float32Array): Uint8Array {
  const blocks = values.length / BLOCK;
  const scales = new Float32Array(blocks);
  const bytes = new Uint8Array(blocks * 34);
  for (let block = 0; block < blocks; block++) {
    const start = block * BLOCK;
    let largest = 0;
    for (let i = start; i < start + BLOCK; i++) largest = Math.max(largest, Math.abs(values[i]));
    const scale = fround(largest / 127);
    const inverse = scale === 0 ? 0 : fround(1 / scale);
    scales[block] = scale;
    for (let i = 0; i < BLOCK; i++) {
      const scaled = fround(values[start + i] * inverse);
      // Halves away from zero, as C's `roundf`.
      bytes[block * 34 + 2 + i] = Math.sign(scaled) * Math.floor(Math.abs(scaled) + 0.5);
    }
  }
  const halves = new Uint16Array(blocks);
  encodeF16(scales, halves);
  for (let block = 0; block < blocks; block++) {
    bytes[block * 34] = halves[block] & 255;
    bytes[block * 34 + 1] = halves[block] >> 8;
  }
  return bytes;
}
