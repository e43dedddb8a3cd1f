// Promises that clients poll: each is settled once and can be read many times, for minutes after the last time it was
// read, because a client may have hung up on the answer. Knows nothing of what is computed.

import { onAbort } from '../../util/index.ts';
import { serverFault } from './refusals.ts';

/** Why a future is still pending, in Tinker's words, for the user to read. */
export type QueueState = {
  readonly state: 'active' | 'paused_capacity' | 'paused_rate_limit';
  readonly reason?: string;
};

export type Settled<T> = { readonly value: T } | { readonly failure: unknown };

export interface Future<T> {
  readonly id: string;
  /** What is asked of it in metrics, e.g. `sample`. */
  readonly kind: string;
  readonly sessionId: string | undefined;
  readonly settled: Settled<T> | undefined;
  /** What it waits for. */
  readonly queueState: () => QueueState;
  /** Asks the work to stop; the future then fails. Nothing once settled. */
  cancel(): void;
}

export type OpenOptions = {
  readonly id: string;
  readonly kind: string;
  readonly sessionId?: string | undefined;
  readonly queueState?: () => QueueState;
  readonly cancel?: () => void;
};

export interface Resolver<T> {
  readonly future: Future<T>;
  /** The first one counts. */
  readonly settle: (outcome: Settled<T>) => void;
}

export type FutureStoreOptions<T> = {
  /** Milliseconds that a result stays after it was last read. */
  readonly retainMs: number;
  readonly now: () => number;
  /** Memory that a value holds on to. */
  readonly sizeOf: (value: T) => number;
  readonly onSettled?: (future: Future<T>) => void;
};

type Entry<T> = {
  future: Future<T>;
  settled: Settled<T> | undefined;
  bytes: number;
  touchedAt: number;
  readonly waiters: Set<() => void>;
};

const WAITING: QueueState = { state: 'active' };
/** What a future costs beside its value, roughly. */
const FUTURE_BYTES = 500;

export class FutureStore<T> {
  readonly #options: FutureStoreOptions<T>;
  readonly #entries = new Map<string, Entry<T>>();
  #waiting = 0;
  #heldBytes = 0;
  #pending = 0;

  constructor(options: FutureStoreOptions<T>) {
    this.#options = options;
  }

  /** Long polls that are held open. */
  get waiting(): number {
    return this.#waiting;
  }

  get size(): number {
    return this.#entries.size;
  }

  get pending(): number {
    return this.#pending;
  }

  /** Bytes of results that are kept. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  get(id: string): Future<T> | undefined {
    return this.#entries.get(id)?.future;
  }

  /** A new future; its id must be free. */
  open({ id, kind, sessionId, queueState = () => WAITING, cancel }: OpenOptions): Resolver<T> {
    if (this.#entries.has(id)) throw serverFault(`The request id ${id} is taken.`);
    const entry: Entry<T> = {
      settled: undefined,
      bytes: FUTURE_BYTES,
      touchedAt: this.#options.now(),
      waiters: new Set(),
      future: {
        id,
        kind,
        sessionId,
        queueState,
        get settled() {
          return entry.settled;
        },
        cancel: () => {
          if (entry.settled === undefined) cancel?.();
        },
      },
    };
    this.#entries.set(id, entry);
    this.#pending++;
    return { future: entry.future, settle: (outcome) => this.#settle(entry, outcome) };
  }

  /** Resolves when it is settled, when time is up or when the caller hangs up; reading it keeps it for longer. */
  async wait(id: string, options: { readonly ms: number; readonly signal: AbortSignal }): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.touchedAt = this.#options.now();
    if (entry.settled !== undefined || options.signal.aborted) return;
    this.#waiting++;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        off();
        entry.waiters.delete(done);
        this.#waiting--;
        resolve();
      };
      const timer = setTimeout(done, options.ms);
      const off = onAbort(options.signal, done);
      entry.waiters.add(done);
    });
    entry.touchedAt = this.#options.now();
  }

  /** Fails what is pending of a session; results stay readable. */
  failSession(sessionId: string, failure: unknown): void {
    for (const entry of this.#entries.values()) {
      if (entry.future.sessionId !== sessionId || entry.settled !== undefined) continue;
      entry.future.cancel();
      this.#settle(entry, { failure });
    }
  }

  failAll(failure: unknown): void {
    for (const entry of this.#entries.values()) {
      if (entry.settled !== undefined) continue;
      entry.future.cancel();
      this.#settle(entry, { failure });
    }
  }

  /** Forgets results that nobody has read for long enough. */
  sweep(): void {
    const before = this.#options.now() - this.#options.retainMs;
    for (const [id, entry] of this.#entries) {
      if (entry.settled === undefined || entry.touchedAt > before || entry.waiters.size > 0) continue;
      this.#entries.delete(id);
      this.#heldBytes -= entry.bytes;
    }
  }

  #settle(entry: Entry<T>, outcome: Settled<T>): void {
    if (entry.settled !== undefined) return;
    entry.settled = outcome;
    entry.touchedAt = this.#options.now();
    if ('value' in outcome) entry.bytes += this.#options.sizeOf(outcome.value);
    this.#heldBytes += entry.bytes;
    this.#pending--;
    this.#options.onSettled?.(entry.future);
    for (const wake of [...entry.waiters]) wake();
  }
}
