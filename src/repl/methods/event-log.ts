// The newest protocol events of all sessions, for `drainEvents` and `waitForEvent`. Draining and waiting do not disturb
// each other: an event that was drained can still be waited for.

import { onAbort } from '../../util/index.ts';

export type CdpEvent = {
  readonly method: string;
  readonly params: unknown;
  readonly sessionId?: string;
  /** Wall clock, milliseconds. */
  readonly time: number;
};

export type WaitForEventOptions = {
  readonly method: string;
  /** `undefined` is the browser's own session. */
  readonly sessionId: string | undefined;
  /** Events up to this number are old. */
  readonly after: number;
  readonly ms: number;
  readonly signal: AbortSignal;
};

export interface EventLog {
  /** Number of the last event; they count from 1. */
  readonly last: number;
  add(event: Omit<CdpEvent, 'time'>): void;
  /** What came since the last drain, the newest 500 of it. */
  drain(): readonly CdpEvent[];
  /** The first matching event, or null when there is none within `ms`. */
  next(options: WaitForEventOptions): Promise<{ readonly sequence: number; readonly event: CdpEvent } | null>;
}

const CAPACITY = 500;

export function createEventLog(now: () => number): EventLog {
  const events: { readonly sequence: number; readonly event: CdpEvent }[] = [];
  const listeners = new Set<() => void>();
  let last = 0;
  let drained = 0;

  return {
    get last() {
      return last;
    },
    add({ method, params, sessionId }) {
      last++;
      const time = now();
      events.push({
        sequence: last,
        event: { method, params, ...(sessionId === undefined ? {} : { sessionId }), time },
      });
      if (events.length > CAPACITY) events.shift();
      for (const listener of [...listeners]) listener();
    },
    drain() {
      const fresh = events.filter(({ sequence }) => sequence > drained).map(({ event }) => event);
      drained = last;
      return fresh;
    },
    next: ({ method, sessionId, after, ms, signal }) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const look = (): boolean => {
          const found = events.find(
            ({ sequence, event }) => sequence > after && event.method === method && event.sessionId === sessionId,
          );
          if (found === undefined) return false;
          finish();
          resolve(found);
          return true;
        };
        const finish = (): void => {
          clearTimeout(timer);
          listeners.delete(look);
          off();
        };
        const off = onAbort(signal, () => {
          finish();
          reject(signal.reason as Error);
        });
        const timer = setTimeout(() => {
          finish();
          resolve(null);
        }, ms);
        if (!look()) listeners.add(look);
      }),
  };
}
