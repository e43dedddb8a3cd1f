// The safetensors format, F32 only: an 8-byte little-endian header length, a JSON header, raw data.
// Source: huggingface/safetensors README, "Format". Reading checks everything before any tensor is handed out.

import { TabwrightError } from '../core/index.ts';
import { z } from 'zod';

export type NamedTensor = { readonly name: string; readonly shape: readonly number[]; readonly data: Float32Array };

const MAX_HEADER_BYTES = 100 * 1024 * 1024;

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
  const fail = (what: string, details: Record<string, string | number> = {}): TabwrightError =>
    new TabwrightError(
      'store',
      `${origin}: ${what} The file is damaged or not a safetensors file; restore it from its source.`,
      {
        code: 'bad-safetensors',
        details: { origin, ...details },
      },
    );
  if (bytes.length < 8) throw fail(`${bytes.length} bytes are too few for a header.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = Number(view.getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES || 8 + length > bytes.length)
    throw fail(`The header claims ${length} bytes of ${bytes.length}.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(8, 8 + length)));
  } catch {
    throw fail('The header is not JSON.');
  }
  const header = z.record(z.string(), z.unknown()).safeParse(parsed);
  if (!header.success) throw fail('The header is not a JSON object.');
  // Not `bytes.subarray`: a Node Buffer's `slice` would share memory instead of copying.
  const data = new Uint8Array(bytes.buffer, bytes.byteOffset + 8 + length, bytes.length - 8 - length);
  const tensors = new Map<string, NamedTensor>();
  const spans: { readonly name: string; readonly start: number; readonly end: number }[] = [];
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
    if (dtype !== 'F32')
      throw fail(`Tensor "${name}" has type ${dtype}; only F32 is read here.`, { tensor: name, dtype });
    const expected = shape.reduce((product, dim) => product * dim, 4);
    const [start, end] = offsets;
    if (end - start !== expected)
      throw fail(
        `Tensor "${name}" of shape [${shape.join(', ')}] needs ${expected} bytes, its entry spans ${end - start}.`,
        { tensor: name },
      );
    if (end > data.length)
      throw fail(
        `Tensor "${name}" of shape [${shape.join(', ')}] ends at byte ${end} of ${data.length}: the file is cut short.`,
        { tensor: name },
      );
    spans.push({ name, start, end });
    // A copy, because the data need not be aligned for a typed array and the file buffer should not be kept alive.
    tensors.set(name, { name, shape, data: new Float32Array(data.slice(start, end).buffer) });
  }
  // The format allows neither gaps nor shared bytes: either means that the header is not this data's.
  let at = 0;
  for (const { name, start, end } of spans.sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (start !== at) throw fail(`Tensor "${name}" begins at byte ${start}, expected ${at}.`, { tensor: name });
    at = end;
  }
  if (at !== data.length) throw fail(`${data.length - at} bytes after the last tensor belong to none.`);
  return { tensors, metadata };
}
