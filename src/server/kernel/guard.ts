// Who may speak to the server. With a token: whoever has it. Without one, programs of this machine only, and no web
// page, which a browser on this machine would let speak to loopback: pages send an Origin, and rebinding shows in Host.

import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { failure } from './failures.ts';

export function guard(token: string | undefined): MiddlewareHandler {
  return async (context, next) => {
    if (token !== undefined) {
      const given = /^Bearer (.+)$/.exec(context.req.header('authorization') ?? '')?.[1];
      if (given === undefined || !same(given, token)) {
        throw failure('unauthorized', 'The request needs the token of this server: Authorization: Bearer <token>.');
      }
    } else {
      const host = context.req.header('host') ?? '';
      if (!isLoopbackHost(host.replace(/:\d+$/, ''))) {
        throw failure('forbidden', `This server answers on loopback alone, not as ${JSON.stringify(host)}.`);
      }
      if (context.req.header('origin') !== undefined) {
        throw failure('forbidden', 'This server has no token, so it answers no web page.');
      }
    }
    await next();
  };
}

export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}

/** Compared by digest, so that the time tells nothing of the token, not even its length. */
function same(given: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
