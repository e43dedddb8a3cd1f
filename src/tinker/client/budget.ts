// A bound on bytes that are under way: whoever comes first waits for room first. A piece larger than the bound takes
// all of it, so that it can pass at all.

import { onAbort } from '../../util/index.ts';

export type ByteBudget = {
  readonly free: number;
  /** Waits for room; the result gives it back, once. */
  take(bytes: number, signal?: AbortSignal): Promise<() => void>;
};

export function createByteBudget(limit: number): ByteBudget {
  let free = limit;
  const waiting: { readonly bytes: number; readonly grant: () => void }[] = [];

  const serve = (): void => {
    while (waiting.length > 0 && waiting[0].bytes <= free) waiting.shift()!.grant();
  };
  const hold = (bytes: number): (() => void) => {
    free -= bytes;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      free += bytes;
      serve();
    };
  };

  return {
    get free() {
      return free;
    },
    take(asked, signal) {
      const bytes = Math.min(asked, limit);
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      if (waiting.length === 0 && bytes <= free) return Promise.resolve(hold(bytes));
      return new Promise((resolve, reject) => {
        const entry = {
          bytes,
          grant: () => {
            off?.();
            resolve(hold(bytes));
          },
        };
        const off =
          signal &&
          onAbort(signal, () => {
            waiting.splice(waiting.indexOf(entry), 1);
            serve();
            reject(signal.reason as Error);
          });
        waiting.push(entry);
      });
    },
  };
}
