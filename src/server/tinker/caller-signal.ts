// When the caller has hung up. The adapter's own signal fires with a text for a reason, so what follows from it is an
// abort like any other.

import type { Context } from 'hono';

export function callerSignal(context: Context): AbortSignal {
  return context.req.raw.signal;
}
