// Writes a safetensors file tensor by tensor, so that no more than one tensor is held beside the model: the header
// first, whose offsets follow from shapes and types, then each tensor as it is asked for. F32, F16 or BF16.

import { open } from 'node:fs/promises';
import { encodeBF16, encodeF16 } from './half-floats.ts';

export type FloatType = 'F32' | 'F16' | 'BF16';

export type TensorToWrite = {
  readonly name: string;
  readonly shape: readonly number[];
  /** Called once, when its turn comes; the result may be live storage and is not kept. */
  readonly read: () => Float32Array | Promise<Float32Array>;
};

export type SafetensorsToWrite = {
  readonly path: string;
  /** Written in this order. */
  readonly tensors: readonly TensorToWrite[];
  /** Default F32. */
  readonly type?: FloatType;
  readonly signal?: AbortSignal;
};

export async function writeSafetensors({ path, tensors, type = 'F32', signal }: SafetensorsToWrite): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(safetensorsHeader(tensors, type));
    for (const { name, shape, read } of tensors) {
      signal?.throwIfAborted();
      const values = await read();
      const expected = count(shape);
      if (values.length !== expected) {
        throw new Error(`internal: ${name} gave ${values.length} values for shape [${shape.join(', ')}]`);
      }
      await file.writeFile(encodeFloats(values, type));
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Little-endian bytes of values in a type. */
export function encodeFloats(values: Float32Array, type: FloatType): Uint8Array {
  if (type === 'F32') return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const halves = new Uint16Array(values.length);
  if (type === 'F16') encodeF16(values, halves);
  else encodeBF16(values, halves);
  return new Uint8Array(halves.buffer);
}

function safetensorsHeader(tensors: readonly TensorToWrite[], type: FloatType): Uint8Array {
  const bytesEach = type === 'F32' ? 4 : 2;
  // Readers of Hugging Face's libraries ask for `format` before they open a file.
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let offset = 0;
  for (const { name, shape } of tensors) {
    const end = offset + count(shape) * bytesEach;
    header[name] = { dtype: type, shape, data_offsets: [offset, end] };
    offset = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  // Data should begin at a multiple of 8 bytes; the format lets spaces fill the header.
  const length = Math.ceil(json.length / 8) * 8;
  const bytes = new Uint8Array(8 + length).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
  bytes.set(json, 8);
  return bytes;
}

function count(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}
