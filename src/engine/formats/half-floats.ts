// 16-bit floats to 32-bit ones and back: IEEE 754 binary16 (F16) and bfloat16 (BF16), rounding to the nearest, ties
// to even. Whole arrays at a time, because a model has hundreds of millions of them; no files here.

/** Values of F16 bit patterns. */
export function decodeF16(from: Uint16Array, into: Float32Array): void {
  const bits = new Uint32Array(into.buffer, into.byteOffset, into.length);
  // As binary32 the 15 magnitude bits are the value times 2^-112, subnormals included, so one product repairs the exponent.
  for (let i = 0; i < from.length; i++) bits[i] = (from[i] & 0x7fff) << 13;
  for (let i = 0; i < from.length; i++) {
    const half = from[i];
    const magnitude = (half & 0x7c00) === 0x7c00 ? ((half & 0x3ff) === 0 ? Infinity : NaN) : into[i] * 2 ** 112;
    into[i] = half & 0x8000 ? -magnitude : magnitude;
  }
}

/** Values of BF16 bit patterns: the upper half of a binary32. */
export function decodeBF16(from: Uint16Array, into: Float32Array): void {
  const bits = new Uint32Array(into.buffer, into.byteOffset, into.length);
  for (let i = 0; i < from.length; i++) bits[i] = from[i] << 16;
}

/** The value of one F16 bit pattern. */
export function f16Value(half: number): number {
  const exponent = (half >> 10) & 31;
  const fraction = half & 0x3ff;
  const magnitude =
    exponent === 31
      ? fraction === 0
        ? Infinity
        : NaN
      : exponent === 0
        ? fraction * 2 ** -24
        : (1024 + fraction) * 2 ** (exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

/** The nearest F16 bit patterns; what is beyond 65504 by half a step becomes an infinity. */
export function encodeF16(from: Float32Array, into: Uint16Array): void {
  const bits = new Uint32Array(from.buffer, from.byteOffset, from.length);
  for (let i = 0; i < from.length; i++) {
    const sign = (bits[i] >>> 16) & 0x8000;
    const magnitude = bits[i] & 0x7fffffff;
    let half: number;
    if (magnitude > 0x7f800000) half = 0x7e00;
    else if (magnitude >= 0x477ff000) half = 0x7c00;
    else if (magnitude >= 0x38800000) {
      // A normal half: drop 13 bits, rounding; a carry runs into the exponent as it should.
      half = (magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13;
    } else {
      half = roundHalfEven(Math.abs(from[i]) * 2 ** 24);
    }
    into[i] = sign | half;
  }
}

/** The nearest BF16 bit patterns. */
export function encodeBF16(from: Float32Array, into: Uint16Array): void {
  const bits = new Uint32Array(from.buffer, from.byteOffset, from.length);
  for (let i = 0; i < from.length; i++) {
    const value = bits[i];
    into[i] =
      (value & 0x7fffffff) > 0x7f800000 ? (value >>> 16) | 0x40 : (value + 0x7fff + ((value >>> 16) & 1)) >>> 16;
  }
}

/** The nearest integer of a non-negative number, ties to even. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
