// The head of a GGUF file, read: metadata and the table of tensors. Little-endian, versions 2 and 3.
// `@huggingface/gguf` 0.4.6 is the second reader of our tests and not used here: it reads a string that ends an array
// across the border of its 2 MB chunks short without a word, and drops a byte order mark at the beginning of a token.

import { open, type FileHandle } from 'node:fs/promises';
import { TabwrightError } from '../../core/index.ts';
import {
  DEFAULT_ALIGNMENT,
  GGUF_MAGIC,
  SCALAR_BYTES,
  VALUE_TYPES,
  type GgufEntry,
  type GgufMetadata,
  type GgufScalar,
  type GgufTensor,
  type GgufValue,
  type GgufValueType,
} from './gguf-types.ts';

const FIRST_READ_BYTES = 1 << 20;
/** Metadata are mostly the tokenizer; the largest vocabularies take some 10 MB. */
const MAX_HEADER_BYTES = 1 << 28;
const MAX_ARRAY_DEPTH = 4;
const MAX_DIMENSIONS = 4;

export type GgufHeader = {
  readonly metadata: GgufMetadata;
  readonly tensors: readonly GgufTensor[];
  /** Where the tensors' data begin in the file. */
  readonly dataStart: number;
  readonly fileBytes: number;
};

/** Reads as much of the file as its head takes. Whether the tensors lie within it is for the caller to check. */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    for (let length = Math.min(FIRST_READ_BYTES, size); ; length = Math.min(length * 2, size)) {
      const bytes = new Uint8Array(length);
      await readExactly(file, { into: bytes, position: 0, path });
      try {
        return parseGgufHeader(bytes, size, path);
      } catch (error) {
        if (!(error instanceof NeedsMoreBytes)) throw error;
        if (length === size) throw damaged(path, 'its head is cut short');
        if (length * 2 > MAX_HEADER_BYTES) throw damaged(path, `its head claims more than ${MAX_HEADER_BYTES} bytes`);
      }
    }
  } finally {
    await file.close();
  }
}

/** Fills `into` from a place in the file, whose end is an error. */
export async function readExactly(
  file: FileHandle,
  { into, position, path }: { readonly into: Uint8Array; readonly position: number; readonly path: string },
): Promise<void> {
  for (let done = 0; done < into.length;) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) throw damaged(path, `it ends at byte ${position + done}`);
    done += bytesRead;
  }
}

export async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new TabwrightError('store', `${path} could not be read (${code}); check the path.`, {
      code: 'model-file-not-read',
      details: { path, reason: code },
      cause: error,
    });
  }
}

function damaged(path: string, what: string): TabwrightError {
  return new TabwrightError('store', `${path}: ${what}. The file is damaged or not a GGUF file; fetch it again.`, {
    code: 'bad-gguf',
    details: { path },
  });
}

/** The bytes at hand end too early; the file may have more. */
class NeedsMoreBytes extends Error {}

/** `fileBytes` bounds every count, so that a damaged one never becomes a large allocation. */
function parseGgufHeader(bytes: Uint8Array, fileBytes: number, path: string): GgufHeader {
  const cursor = new Cursor(bytes, fileBytes, path);
  const magic = cursor.uint32();
  if (magic !== GGUF_MAGIC) throw damaged(path, 'it does not begin with "GGUF"');
  const version = cursor.uint32();
  if (version !== 2 && version !== 3) {
    // A big-endian file has its version in the upper bytes.
    const what = version > 0xffff ? 'big-endian' : `GGUF version ${version}`;
    throw new TabwrightError('store', `${path} is ${what}; versions 2 and 3, little-endian, are read here.`, {
      code: 'gguf-version',
      details: { path, version },
    });
  }
  // A tensor's entry takes at least 24 bytes, a key with its value 13.
  const tensorCount = cursor.count(24, 'tensors');
  const keyCount = cursor.count(13, 'metadata keys');
  const metadata = new Map<string, GgufEntry>();
  for (let i = 0; i < keyCount; i++) {
    const key = cursor.string();
    if (metadata.has(key)) throw damaged(path, `the metadata key "${key}" is there twice`);
    metadata.set(key, cursor.entry(key));
  }
  const tensors: GgufTensor[] = [];
  const names = new Set<string>();
  for (let i = 0; i < tensorCount; i++) {
    const name = cursor.string();
    if (names.has(name)) throw damaged(path, `the tensor "${name}" is there twice`);
    names.add(name);
    const dimensions = cursor.uint32();
    if (dimensions > MAX_DIMENSIONS) throw damaged(path, `tensor "${name}" claims ${dimensions} dimensions`);
    const shape = Array.from({ length: dimensions }, () => cursor.uint64(`a dimension of "${name}"`)).reverse();
    const type = cursor.uint32();
    tensors.push({ name, shape, type, offset: cursor.uint64(`the offset of "${name}"`) });
  }
  const alignment = metadata.get('general.alignment')?.value ?? DEFAULT_ALIGNMENT;
  if (typeof alignment !== 'number' || !Number.isInteger(alignment) || alignment < 1) {
    throw damaged(path, `general.alignment is ${String(alignment)}`);
  }
  return { metadata, tensors, dataStart: Math.ceil(cursor.position / alignment) * alignment, fileBytes };
}

class Cursor {
  position = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #fileBytes: number;
  readonly #path: string;
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(bytes: Uint8Array, fileBytes: number, path: string) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#fileBytes = fileBytes;
    this.#path = path;
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  uint64(what: string): number {
    const value = this.#view.getBigUint64(this.#take(8), true);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged(this.#path, `${what} is ${value}`);
    return Number(value);
  }

  /** A number of things that take at least so many bytes each in the rest of the file. */
  count(bytesEach: number, what: string): number {
    const count = this.uint64(`the number of ${what}`);
    if (count * bytesEach > this.#fileBytes - this.position) {
      throw damaged(this.#path, `it claims ${count} ${what} in ${this.#fileBytes} bytes`);
    }
    return count;
  }

  string(): string {
    const length = this.count(1, 'bytes of a text');
    const start = this.#take(length);
    return this.#utf8.decode(this.#bytes.subarray(start, start + length));
  }

  entry(key: string): GgufEntry {
    const type = this.#valueType(key);
    return type === 'array' ? this.#array(key, 1) : { type, value: this.#scalar(type) };
  }

  #array(key: string, depth: number): GgufEntry & { type: 'array' } {
    if (depth > MAX_ARRAY_DEPTH) throw damaged(this.#path, `"${key}" nests arrays deeper than ${MAX_ARRAY_DEPTH}`);
    const element = this.#valueType(key);
    const least = element === 'array' ? 12 : element === 'string' ? 8 : SCALAR_BYTES[element];
    const length = this.count(least, `elements of "${key}"`);
    const value: GgufValue[] = [];
    for (let i = 0; i < length; i++) {
      value.push(element === 'array' ? this.#array(key, depth + 1).value : this.#scalar(element));
    }
    return { type: 'array', element, value };
  }

  #valueType(key: string): GgufValueType {
    const number = this.uint32();
    if (number >= VALUE_TYPES.length) throw damaged(this.#path, `"${key}" has a value of the unknown type ${number}`);
    return VALUE_TYPES[number];
  }

  #scalar(type: Exclude<GgufValueType, 'array'>): GgufScalar {
    if (type === 'string') return this.string();
    const at = this.#take(SCALAR_BYTES[type]);
    switch (type) {
      case 'uint8':
        return this.#view.getUint8(at);
      case 'int8':
        return this.#view.getInt8(at);
      case 'uint16':
        return this.#view.getUint16(at, true);
      case 'int16':
        return this.#view.getInt16(at, true);
      case 'uint32':
        return this.#view.getUint32(at, true);
      case 'int32':
        return this.#view.getInt32(at, true);
      case 'float32':
        return this.#view.getFloat32(at, true);
      case 'bool':
        return this.#view.getUint8(at) !== 0;
      case 'uint64':
        return asNumber(this.#view.getBigUint64(at, true));
      case 'int64':
        return asNumber(this.#view.getBigInt64(at, true));
      case 'float64':
        return this.#view.getFloat64(at, true);
    }
  }

  /** Steps over so many bytes and gives the place of the first. */
  #take(length: number): number {
    const start = this.position;
    if (start + length > this.#bytes.length) throw new NeedsMoreBytes();
    this.position += length;
    return start;
  }
}

function asNumber(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
