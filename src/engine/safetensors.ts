// The safetensors format: an 8-byte little-endian header length, a JSON header, raw data. In memory; files that are
// read or written tensor by tensor are in `formats/`. F32 is written; F16 and BF16 are read too, as F32.
// Source: huggingface/safetensors README, "Format". Reading checks everything before any tensor is handed out.

import { TabwrightError } from '../core/index.ts';
import { z } from 'zod';
import { decodeBF16, decodeF16 } from './formats/half-floats.ts';

export type NamedTensor = { readonly name: string; readonly shape: readonly number[]; readonly data: Float32Array };

/** The format's own limit. */
export const MAX_SAFETENSORS_HEADER_BYTES = 100_000_000;

/** One tensor of a header. */
export type SafetensorsEntry = {
  readonly name: string;
  /** The format's name of the element type. */
  readonly type: string;
  readonly shape: readonly number[];
  /** First byte and the one after the last, counted from the end of the header. */
  readonly start: number;
  readonly end: number;
};

const BYTES_EACH: ReadonlyMap<string, number> = new Map([
  ...(['BOOL', 'U8', 'I8', 'F8_E5M2', 'F8_E4M3', 'F8_E8M0'] as const).map((type) => [type, 1] as const),
  ...(['U16', 'I16', 'F16', 'BF16'] as const).map((type) => [type, 2] as const),
  ...(['U32', 'I32', 'F32'] as const).map((type) => [type, 4] as const),
  ...(['U64', 'I64', 'F64'] as const).map((type) => [type, 8] as const),
]);

const entrySchema = z.object({
  dtype: z.string(),
  shape: z.array(z.number().int().nonnegative()),
  data_offsets: z.tuple([z.number().int().nonnegative(), z.number().int().nonnegative()]),
});

/** Bytes of a safetensors file. Tensors are written in the order given. */
export function encodeSafetensors(
  tensors: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt', ...metadata } };
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const headerBytes = new TextEncoder().encode(JSON.stringify(header));
  // Data should begin at a multiple of 8 bytes; the format lets spaces fill the header.
  const padded = Math.ceil(headerBytes.length / 8) * 8;
  const bytes = new Uint8Array(8 + padded + offset);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(padded), true);
  bytes.fill(0x20, 8, 8 + padded);
  bytes.set(headerBytes, 8);
  let at = 8 + padded;
  for (const { data } of tensors) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}

/** Tensors of a file by name. `origin` is the file's name for messages. */
export function decodeSafetensors(
  bytes: Uint8Array,
  origin: string,
): { tensors: Map<string, NamedTensor>; metadata: Record<string, string> } {
  const headerBytes = safetensorsHeaderBytes(bytes, bytes.length, origin);
  const dataStart = 8 + headerBytes;
  const { entries, metadata } = parseSafetensorsHeader({
    header: bytes.subarray(8, dataStart),
    dataBytes: bytes.length - dataStart,
    origin,
  });
  const tensors = new Map<string, NamedTensor>();
  for (const entry of entries) {
    const { name, shape } = entry;
    requireFloats(entry, origin);
    const data = new Float32Array(shape.reduce((product, dim) => product * dim, 1));
    decodeFloats(bytes.subarray(dataStart + entry.start, dataStart + entry.end), entry.type, data);
    tensors.set(name, { name, shape, data });
  }
  return { tensors, metadata };
}

/** Length of the header of a file of which `start` are the first bytes. */
export function safetensorsHeaderBytes(start: Uint8Array, fileBytes: number, origin: string): number {
  if (start.length < 8) throw damaged(origin, `${start.length} bytes are too few for a header.`);
  const length = Number(new DataView(start.buffer, start.byteOffset, start.byteLength).getBigUint64(0, true));
  if (length > MAX_SAFETENSORS_HEADER_BYTES || 8 + length > fileBytes)
    throw damaged(origin, `The header claims ${length} bytes of ${fileBytes}.`);
  return length;
}

/** What a header says, checked against the length of the data that follow it; in the order of the data. */
export function parseSafetensorsHeader({
  header: headerBytes,
  dataBytes,
  origin,
}: {
  readonly header: Uint8Array;
  readonly dataBytes: number;
  readonly origin: string;
}): { entries: SafetensorsEntry[]; metadata: Record<string, string> } {
  const fail = (what: string, details: Record<string, string | number> = {}): TabwrightError =>
    damaged(origin, what, details);
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(headerBytes));
  } catch {
    throw fail('The header is not JSON.');
  }
  const header = z.record(z.string(), z.unknown()).safeParse(parsed);
  if (!header.success) throw fail('The header is not a JSON object.');
  const entries: SafetensorsEntry[] = [];
  let metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(header.data)) {
    if (name === '__metadata__') {
      const strings = z.record(z.string(), z.string()).safeParse(value);
      if (!strings.success) throw fail('__metadata__ must map strings to strings.');
      metadata = strings.data;
      continue;
    }
    const entry = entrySchema.safeParse(value);
    if (!entry.success) throw fail(`The entry of tensor "${name}" is malformed.`, { tensor: name });
    const { dtype, shape, data_offsets: offsets } = entry.data;
    const bytesEach = BYTES_EACH.get(dtype);
    if (bytesEach === undefined)
      throw fail(`Tensor "${name}" has type ${dtype}, which is not known here.`, { tensor: name, dtype });
    const expected = shape.reduce((product, dim) => product * dim, bytesEach);
    const [start, end] = offsets;
    if (end - start !== expected)
      throw fail(
        `Tensor "${name}" of shape [${shape.join(', ')}] needs ${expected} bytes, its entry spans ${end - start}.`,
        { tensor: name },
      );
    if (end > dataBytes)
      throw fail(
        `Tensor "${name}" of shape [${shape.join(', ')}] ends at byte ${end} of ${dataBytes}: the file is cut short.`,
        { tensor: name },
      );
    entries.push({ name, type: dtype, shape, start, end });
  }
  // The format allows neither gaps nor shared bytes: either means that the header is not this data's.
  let at = 0;
  for (const { name, start, end } of entries.sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (start !== at) throw fail(`Tensor "${name}" begins at byte ${start}, expected ${at}.`, { tensor: name });
    at = end;
  }
  if (at !== dataBytes) throw fail(`${dataBytes - at} bytes after the last tensor belong to none.`);
  return { entries, metadata };
}

/** Refuses a tensor that `decodeFloats` does not read. */
export function requireFloats({ name, type }: SafetensorsEntry, origin: string): void {
  if (type === 'F32' || type === 'F16' || type === 'BF16') return;
  const message = `${origin}: Tensor "${name}" has type ${type}; F32, F16 and BF16 are read here. Convert the model to one of them.`;
  throw new TabwrightError('store', message, {
    code: 'tensor-type',
    details: { origin, tensor: name, dtype: type },
  });
}

/** F32 values of little-endian bytes, which need not be aligned. */
export function decodeFloats(bytes: Uint8Array, type: string, into: Float32Array): void {
  if (type === 'F32') {
    new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes);
    return;
  }
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : Uint8Array.from(bytes);
  const halves = new Uint16Array(aligned.buffer, aligned.byteOffset, into.length);
  if (type === 'F16') decodeF16(halves, into);
  else decodeBF16(halves, into);
}

function damaged(origin: string, what: string, details: Record<string, string | number> = {}): TabwrightError {
  const message = `${origin}: ${what} The file is damaged or not a safetensors file; restore it from its source.`;
  return new TabwrightError('store', message, { code: 'bad-safetensors', details: { origin, ...details } });
}
