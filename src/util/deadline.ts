// Deadlines: no wait of this project is unbounded. The error of a missed deadline is the caller's, because
// only the caller knows whose boundary was crossed.

import { abortable, linkedController, onAbort } from './abort.ts';

export type DeadlineOptions = {
  /** Milliseconds until the work is given up. */
  readonly ms: number;
  /** Gives the work up earlier. */
  readonly signal?: AbortSignal;
  /** The error to reject with when time runs out. */
  readonly onExpiry: () => Error;
};

/** Runs `work` with a signal that fires at the deadline or with the caller's; rejects then, even if `work` hangs. */
export async function withDeadline<T>(options: DeadlineOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  options.signal?.throwIfAborted();
  const { controller, unlink } = linkedController(options.signal);
  const timer = setTimeout(() => controller.abort(options.onExpiry()), options.ms);
  try {
    return await abortable(work(controller.signal), controller.signal);
  } finally {
    clearTimeout(timer);
    unlink();
  }
}

/** Resolves after `ms` milliseconds; rejects with the signal's reason if that fires first. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const off = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
    const timer = setTimeout(() => {
      off();
      resolve();
    }, ms);
  });
}
