// Parquet files as rows of JSON values. Snappy and no compression are the reader's own; Zstandard and gzip are added.

import { gunzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import { parquetReadObjects } from 'hyparquet';
import { TabwrightError, type JsonObject, type JsonValue } from '../../core/index.ts';

const MAGIC = 'PAR1';

export function isParquet(bytes: Uint8Array): boolean {
  return bytes.byteLength >= 12 && Buffer.from(bytes.subarray(0, 4)).toString('latin1') === MAGIC;
}

/** `name` is for messages. */
export async function readParquet(name: string, bytes: Uint8Array): Promise<readonly JsonObject[]> {
  // A copy: slices of a pooled buffer would reach beyond it.
  const { buffer, byteLength } = Uint8Array.from(bytes);
  const file = { byteLength, slice: (start: number, end?: number) => buffer.slice(start, end) };
  try {
    const rows = await parquetReadObjects({
      file,
      compressors: {
        ZSTD: (input) => decompress(input),
        GZIP: (input) => new Uint8Array(gunzipSync(input)),
      },
    });
    return rows.map((row) => asValue(row) as JsonObject);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TabwrightError('config', `${name} cannot be read as Parquet: ${reason}.`, {
      code: 'bad-parquet',
      details: { file: name, reason },
      cause,
    });
  }
}

/** What Parquet has and JSON has not, as JSON would write it. */
function asValue(value: unknown): JsonValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(asValue);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asValue(inner)]));
  }
  return value === undefined ? null : (value as JsonValue);
}
