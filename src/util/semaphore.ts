// A counting semaphore with a fair queue: whoever waits longest is served first.

import { onAbort } from './abort.ts';

export interface Semaphore {
  /** Permits free right now. */
  readonly available: number;
  /** Takes a permit, waiting for one; the result gives it back (more than once does nothing). */
  acquire(signal?: AbortSignal): Promise<() => void>;
  /** Runs `work` holding a permit. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function createSemaphore(permits: number): Semaphore {
  if (!(Number.isInteger(permits) && permits > 0))
    throw new RangeError(`a semaphore needs a positive whole number of permits, got ${permits}`);
  let available = permits;
  const waiting: (() => void)[] = [];

  const grant = (): (() => void) => {
    available--;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      available++;
      waiting.shift()?.();
    };
  };

  const acquire = (signal?: AbortSignal): Promise<() => void> => {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (available > 0) return Promise.resolve(grant());
    return new Promise((resolve, reject) => {
      const take = (): void => {
        off?.();
        resolve(grant());
      };
      const off =
        signal &&
        onAbort(signal, () => {
          waiting.splice(waiting.indexOf(take), 1);
          reject(signal.reason as Error);
        });
      waiting.push(take);
    });
  };

  return {
    get available() {
      return available;
    },
    acquire,
    async run(work, signal) {
      const release = await acquire(signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
