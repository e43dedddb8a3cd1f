// Lists in pages: `limit` and `offset` of a query, and the cursor that goes with the answer.

import type { Context } from 'hono';
import { z } from 'zod';
import { parseBody } from './read-body.ts';

export type Page<T> = {
  readonly items: readonly T[];
  readonly cursor: { readonly offset: number; readonly limit: number; readonly total_count: number };
};

/** `limit` is what a page holds where none is asked for. */
export function readPage<T>(context: Context, all: readonly T[], limit: number): Page<T> {
  const schema = z.object({
    limit: z.coerce.number().int().min(1).max(10_000).default(limit),
    offset: z.coerce.number().int().min(0).default(0),
  });
  const { limit: count, offset } = parseBody(schema, context.req.query());
  const cursor = { offset, limit: count, total_count: all.length };
  return { items: all.slice(offset, offset + count), cursor };
}
