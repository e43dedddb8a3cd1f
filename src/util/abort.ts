// Abort signals: giving up a wait, and joining two signals into one. Every listener added here is removed
// again (`AbortSignal.any` keeps its sources alive in Node 20, which a long run's signal cannot afford).

/** Settles as `promise` does, or rejects with the signal's reason when that comes first. The work itself goes on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) {
      promise.catch(() => undefined); // abandoned: its failure is nobody's news any more
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** A controller that follows `parent`; `unlink` when the work is over. */
export function linkedController(parent: AbortSignal | undefined): { controller: AbortController; unlink: () => void } {
  const controller = new AbortController();
  if (parent === undefined) return { controller, unlink: () => undefined };
  const follow = (): void => controller.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return { controller, unlink: () => parent.removeEventListener('abort', follow) };
}
