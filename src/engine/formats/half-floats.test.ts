// Every one of the 65,536 bit patterns, against the definition of the formats.

import { describe, expect, it } from 'vitest';
import { decodeBF16, decodeF16, encodeBF16, encodeF16, f16Value } from './half-floats.ts';

const ALL = Uint16Array.from({ length: 65_536 }, (_, i) => i);

/** IEEE 754-2019, 3.4: sign, 5 bits of exponent with bias 15, 10 bits of fraction. */
function f16ByDefinition(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  const sign = bits >> 15 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * (1 + fraction) * 2 ** (exponent - 15) : sign * fraction * 2 ** -14;
}

describe('16-bit floats', () => {
  it('reads every F16 pattern as IEEE 754 defines it', () => {
    const values = new Float32Array(ALL.length);
    decodeF16(ALL, values);
    expect(ALL.filter((bits) => !Object.is(values[bits], f16ByDefinition(bits)))).toEqual(new Uint16Array());
    expect(ALL.filter((bits) => !Object.is(f16Value(bits), values[bits]))).toEqual(new Uint16Array());
  });

  it('reads every BF16 pattern as the upper half of a binary32', () => {
    const values = new Float32Array(ALL.length);
    decodeBF16(ALL, values);
    const view = new DataView(new ArrayBuffer(4));
    const wrong = ALL.filter((bits) => {
      view.setUint32(0, bits * 65_536);
      return !Object.is(values[bits], view.getFloat32(0));
    });
    expect(wrong).toEqual(new Uint16Array());
  });

  it('writes back every pattern that is a number', () => {
    for (const [decode, encode] of [
      [decodeF16, encodeF16],
      [decodeBF16, encodeBF16],
    ] as const) {
      const values = new Float32Array(ALL.length);
      decode(ALL, values);
      const back = new Uint16Array(ALL.length);
      encode(values, back);
      expect(ALL.filter((bits) => !Number.isNaN(values[bits]) && back[bits] !== bits)).toEqual(new Uint16Array());
    }
  });

  it('rounds halfway values between neighbours to the even one, and others to the nearest', () => {
    const finite = [...ALL.subarray(0, 0x7bff)]; // each below the largest number
    const values = new Float32Array(ALL.length);
    decodeF16(ALL, values);
    const middles = Float32Array.from(finite, (bits) => (values[bits] + values[bits + 1]) / 2);
    const up = new Float32Array(middles.length);
    new Uint32Array(up.buffer).set(new Uint32Array(middles.buffer).map((bits) => bits + 1));
    const rounded = new Uint16Array(middles.length);
    encodeF16(middles, rounded);
    expect(finite.filter((bits) => rounded[bits] !== bits + (bits % 2))).toEqual([]);
    encodeF16(up, rounded);
    expect(finite.filter((bits) => rounded[bits] !== bits + 1)).toEqual([]);
  });

  it('turns what is too large into infinities and keeps what is no number', () => {
    const bits = new Uint16Array(6);
    encodeF16(Float32Array.of(65_519.99, 65_520, 1e10, -Infinity, NaN, -0), bits);
    expect([...bits]).toEqual([0x7bff, 0x7c00, 0x7c00, 0xfc00, 0x7e00, 0x8000]);
  });
});
