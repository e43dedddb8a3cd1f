// Who may speak to the server. With a key: whoever sends it. Without one, programs of this machine only, whatever they
// send as a key, and no web page: pages send an Origin, and rebinding shows in Host.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { isLoopbackHost } from '../kernel/guard.ts';
import { refusal } from './refusals.ts';

/** `open` tells which paths need no key. */
export function guard(key: string | undefined, open: (path: string) => boolean): MiddlewareHandler {
  return async (context, next) => {
    if (key === undefined) {
      const host = context.req.header('host') ?? '';
      if (!isLoopbackHost(host.replace(/:\d+$/, ''))) {
        throw refusal('forbidden', `This server answers on loopback alone, not as ${JSON.stringify(host)}.`);
      }
      if (context.req.header('origin') !== undefined) {
        throw refusal('forbidden', 'This server has no key, so it answers no web page.');
      }
    } else if (!open(context.req.path)) {
      const given = context.req.header('x-api-key') ?? bearer(context.req.header('authorization'));
      if (given === undefined || !same(given, key)) {
        throw refusal('unauthorized', 'The key of this server is needed: X-API-Key, or Authorization: Bearer.');
      }
    }
    await next();
  };
}

function bearer(header: string | undefined): string | undefined {
  return /^Bearer (.+)$/.exec(header ?? '')?.[1];
}

/** Compared by digest, so that the time tells nothing of the key, not even its length. */
function same(given: string, key: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(key));
}
