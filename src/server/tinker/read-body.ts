// Bodies as they come in: never more than the limit is kept, whatever the sender says their length is, and what is
// compressed is opened within the same limit.

import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Context } from 'hono';
import type { z } from 'zod';
import { DEFAULT_LIMITS, openZstd, parseJson, type DecodeLimits, type WireJson } from '../../tinker/index.ts';
import { refusal } from './refusals.ts';

const open = promisify(gunzip);

export type Body = {
  readonly bytes: Uint8Array;
  /** False where the rest was left unread because it is too much. */
  readonly complete: boolean;
};

export async function readBytes(context: Context, maxBytes: number): Promise<Body> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of partsOf(context)) {
    size += part.length;
    if (size > maxBytes) return { bytes: parts[0] ?? part, complete: false };
    parts.push(part);
  }
  const bytes = parts.length === 1 ? parts[0] : new Uint8Array(Buffer.concat(parts));
  const encoding = context.req.header('content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return { bytes, complete: true };
  if (encoding === 'zstd') return { bytes: openZstd(bytes, maxBytes), complete: true };
  if (encoding !== 'gzip') {
    throw refusal(
      'unsupported-body',
      `Content-Encoding ${JSON.stringify(encoding)} is not read here; zstd and gzip are.`,
    );
  }
  try {
    return { bytes: await open(bytes, { maxOutputLength: maxBytes }), complete: true };
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw isLarge ? tooLarge(maxBytes) : refusal('bad-request', 'The body is no gzip.');
  }
}

/** Of Node's own message where there is one: a stream of the web costs more than all the rest of a small request. */
function partsOf({ env, req }: Context): AsyncIterable<Uint8Array> {
  const { incoming } = (env ?? {}) as { readonly incoming?: Readable };
  return incoming?.iterator({ destroyOnReturn: false }) ?? ((req.raw.body ?? []) as AsyncIterable<Uint8Array>);
}

export function tooLarge(maxBytes: number): Error {
  return refusal('body-too-large', `The body is larger than ${maxBytes} bytes; send less at a time.`);
}

export function decodeLimits(maxBytes: number): DecodeLimits {
  return { ...DEFAULT_LIMITS, maxBytes };
}

/** A JSON body, whole numbers of 64 bits exact; an empty one is an empty object. */
export async function readJson(context: Context, maxBytes: number): Promise<{ value: WireJson; bytes: number }> {
  const body = await readBytes(context, maxBytes);
  return { value: jsonOf(body, maxBytes), bytes: body.bytes.length };
}

export function jsonOf({ bytes, complete }: Body, maxBytes: number): WireJson {
  if (!complete) throw tooLarge(maxBytes);
  return bytes.length === 0 ? {} : parseJson(bytes, decodeLimits(maxBytes));
}

export function parseBody<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  throw refusal('bad-request', problems.join('; '));
}
