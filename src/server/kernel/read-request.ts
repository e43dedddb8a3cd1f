// Requests as they come in: bodies and queries through schemas, and a signal that tells when the caller has hung up.

import type { Context } from 'hono';
import type { z } from 'zod';
import { linkedController, onAbort } from '../../util/index.ts';
import { failure } from './failures.ts';

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** A body that is missing is an empty object. */
export async function readBody<T extends z.ZodType>(context: Context, schema: T): Promise<z.infer<T>> {
  const text = await readText(context.req.raw.body);
  return parse(schema, text.trim() === '' ? {} : readJson(context, text));
}

export function readQuery<T extends z.ZodType>(context: Context, schema: T): z.infer<T> {
  return parse(schema, context.req.query());
}

/** Never keeps more than the limit, whatever the caller says the length is. */
async function readText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) {
      throw failure('body-too-large', `The body is larger than ${MAX_BODY_BYTES} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readJson(context: Context, text: string): unknown {
  const type = context.req.header('content-type') ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw failure('not-json', `The body must be application/json, not ${JSON.stringify(type)}.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw failure('bad-request', 'The body is not JSON.');
  }
}

function parse<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  throw failure('bad-request', problems.join('; '));
}

export type CallerOptions = {
  readonly context: Context;
  /** Ends the work as well. */
  readonly ending: AbortSignal;
};

/** Runs `work` with a signal that fires when the caller hangs up. The adapter's own fires with a text for a reason. */
export async function withCaller<T>(
  { context, ending }: CallerOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { controller, unlink } = linkedController(ending);
  const hungUp = (): void => controller.abort(new DOMException('The caller has hung up.', 'AbortError'));
  const { signal } = context.req.raw;
  if (signal.aborted) hungUp();
  const off = onAbort(signal, hungUp);
  try {
    controller.signal.throwIfAborted();
    return await work(controller.signal);
  } finally {
    off();
    unlink();
  }
}
