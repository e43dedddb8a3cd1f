// The head of a GGUF file, written: version 3, little-endian. The layout is that of `gguf-header.ts`.

import {
  DEFAULT_ALIGNMENT,
  GGUF_MAGIC,
  SCALAR_BYTES,
  VALUE_TYPES,
  type GgufMetadata,
  type GgufScalar,
  type GgufTensor,
  type GgufValue,
  type GgufValueType,
} from './gguf-types.ts';

/** The bytes before the tensors' data, padded to their alignment. Offsets of `tensors` are the caller's. */
export function encodeGgufHeader(metadata: GgufMetadata, tensors: readonly GgufTensor[]): Uint8Array {
  const writer = new HeaderWriter();
  writer.uint32(GGUF_MAGIC);
  writer.uint32(3);
  writer.uint64(tensors.length);
  writer.uint64(metadata.size);
  for (const [key, entry] of metadata) {
    writer.string(key);
    writer.uint32(VALUE_TYPES.indexOf(entry.type));
    if (entry.type === 'array') writer.array(entry);
    else writer.scalar(entry.type, entry.value);
  }
  for (const { name, shape, type, offset } of tensors) {
    writer.string(name);
    writer.uint32(shape.length);
    for (const dimension of [...shape].reverse()) writer.uint64(dimension);
    writer.uint32(type);
    writer.uint64(offset);
  }
  return writer.bytes(DEFAULT_ALIGNMENT);
}

class HeaderWriter {
  readonly #parts: Uint8Array[] = [];
  readonly #utf8 = new TextEncoder();
  #length = 0;

  uint32(value: number): void {
    this.#fixed(4, (view) => view.setUint32(0, value, true));
  }

  uint64(value: number): void {
    this.#fixed(8, (view) => view.setBigUint64(0, BigInt(value), true));
  }

  string(text: string): void {
    const bytes = this.#utf8.encode(text);
    this.uint64(bytes.length);
    this.#push(bytes);
  }

  array({ element, value }: { readonly element: GgufValueType; readonly value: readonly GgufValue[] }): void {
    if (element === 'array') throw new Error('internal: arrays of arrays are read, not written');
    this.uint32(VALUE_TYPES.indexOf(element));
    this.uint64(value.length);
    for (const each of value) this.scalar(element, each as GgufScalar);
  }

  scalar(type: Exclude<GgufValueType, 'array'>, value: GgufScalar): void {
    if (type === 'string') return this.string(value as string);
    this.#fixed(SCALAR_BYTES[type], (view) => setScalar(view, type, value));
  }

  bytes(alignment: number): Uint8Array {
    const bytes = new Uint8Array(Math.ceil(this.#length / alignment) * alignment);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  #fixed(length: number, set: (view: DataView) => void): void {
    const bytes = new Uint8Array(length);
    set(new DataView(bytes.buffer));
    this.#push(bytes);
  }

  #push(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }
}

function setScalar(view: DataView, type: Exclude<GgufValueType, 'array' | 'string'>, value: GgufScalar): void {
  switch (type) {
    case 'uint8':
      return view.setUint8(0, Number(value));
    case 'int8':
      return view.setInt8(0, Number(value));
    case 'uint16':
      return view.setUint16(0, Number(value), true);
    case 'int16':
      return view.setInt16(0, Number(value), true);
    case 'uint32':
      return view.setUint32(0, Number(value), true);
    case 'int32':
      return view.setInt32(0, Number(value), true);
    case 'float32':
      return view.setFloat32(0, Number(value), true);
    case 'bool':
      return view.setUint8(0, value ? 1 : 0);
    case 'uint64':
      return view.setBigUint64(0, BigInt(value), true);
    case 'int64':
      return view.setBigInt64(0, BigInt(value), true);
    case 'float64':
      return view.setFloat64(0, Number(value), true);
  }
}
