// Abort signals: listening to one, giving up a wait, following another. Every listener added here is removed again
// (`AbortSignal.any` keeps its sources alive in Node 20, which a long run's signal cannot afford).

import { setMaxListeners } from 'node:events';

/** Calls `listener` when `signal` fires (not if it already has); returns what ends the subscription. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  // Many episodes wait under one run's signal; Node would take more than ten listeners for a leak and warn.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** Settles as `promise` does, or rejects with the signal's reason when that comes first. The work itself goes on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) {
      promise.catch(() => undefined); // abandoned: its failure is nobody's news any more
      abort();
      return;
    }
    const off = onAbort(signal, abort);
    promise.then(resolve, reject).finally(off);
  });
}

/** A controller that follows `parent`; `unlink` when the work is over. */
export function linkedController(parent: AbortSignal | undefined): {
  controller: AbortController;
  unlink: () => void;
} {
  const controller = new AbortController();
  if (parent === undefined) return { controller, unlink: () => undefined };
  const follow = (): void => controller.abort(parent.reason);
  if (!parent.aborted) return { controller, unlink: onAbort(parent, follow) };
  follow();
  return { controller, unlink: () => undefined };
}
