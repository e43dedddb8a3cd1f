// What a cell process may say, as the host reads it. The process runs code that nobody vouches for and that may have
// written the bytes itself: everything is parsed, sizes are checked, and what does not fit ends the process.

import { z } from 'zod';
import { LIMITS } from './cell/limits.ts';
import type { CellMessage } from './cell/messages.ts';

const item = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('text'),
    channel: z.enum(['write', 'stdout', 'stderr']),
    text: z.string(),
  }),
  z.strictObject({
    type: z.literal('image'),
    mime_type: z.string().max(128).startsWith('image/'),
    data_b64: z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/),
  }),
]);

const id = z.int().positive();

const message = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({
    type: z.literal('call'),
    id,
    method: z.string().max(100),
    // Parsed JSON is wire values by construction; what they mean is checked by the method that gets them.
    params: z.array(z.any()).max(16),
  }),
  z.strictObject({
    type: z.literal('done'),
    cell: id,
    content: z.array(item).max(LIMITS.items).refine(fitsLimits, 'more than one answer may hold'),
    contentTruncated: z.boolean(),
    error: z.string().max(LIMITS.errorBytes).optional(),
    stack: z.string().max(LIMITS.stackBytes).optional(),
    fatal: z.boolean(),
  }),
  z.strictObject({ type: z.literal('cdp-open'), connection: id }),
  z.strictObject({
    type: z.literal('cdp-command'),
    connection: id,
    id: z.int().nonnegative(),
    method: z.string().max(100),
    // What it means is checked by the policy; `__proto__` in it is a key like others.
    params: z.custom<Readonly<Record<string, unknown>>>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    ),
    sessionId: z.string().max(100).optional(),
  }),
  z.strictObject({ type: z.literal('cdp-close'), connection: id }),
]);

/** Throws `SyntaxError` or a `ZodError` for what no cell of ours says. */
export function parseCellMessage(json: string): CellMessage {
  return message.parse(JSON.parse(json));
}

function fitsLimits(items: readonly z.infer<typeof item>[]): boolean {
  let text = 0;
  let images = 0;
  for (const entry of items) {
    if (entry.type === 'text') text += Buffer.byteLength(entry.text);
    else images += Buffer.byteLength(entry.data_b64, 'base64');
  }
  return text <= LIMITS.textBytes && images <= LIMITS.imagesBytes;
}
