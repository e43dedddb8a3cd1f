// Sessions booted ahead of the episodes that will use them. An episode gets one that answers; what it gives back is made
// as new, or ended and replaced: after a number of episodes, when it has grown, when it does not answer, and whenever
// something went wrong in it. The pool knows no browser: it is given how to boot a session.

import { TabwrightError } from '../core/index.ts';
import { createSemaphore, onAbort, sleep, withDeadline } from '../util/index.ts';
import { createLease, type SessionLease } from './lease.ts';
import type { ReplSession } from './session.ts';

/** A session that can be made as new. */
export interface WarmSession extends AsyncDisposable {
  /** Of the present episode. */
  readonly session: ReplSession;
  /** Ends everything that an episode left, and gets a session for the next. One whose renewal failed is disposed. */
  renew(signal: AbortSignal): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export type SessionPoolOptions = {
  readonly boot: (signal: AbortSignal) => Promise<WarmSession>;
  /** Sessions at one time, lent, idle and on their way. One more than episodes at one time keeps one warm. */
  readonly sessions: number;
  /** Episodes that a session serves; default 1, which leaves nothing of an episode but what was booted after it. */
  readonly episodes?: number;
  /** A session beyond this serves no other episode; bytes, default 2 GiB. */
  readonly memoryBytes?: number;
  /** Sessions booted at one time; default 2, because a start takes a processor. */
  readonly boots?: number;
  /** Milliseconds between two looks at the idle ones; default 30000. */
  readonly checkEveryMs?: number;
  readonly onEvent?: (event: PoolEvent) => void;
};

export type PoolEvent =
  | { readonly kind: 'booted'; readonly ms: number }
  | { readonly kind: 'boot-failed'; readonly error: unknown }
  | { readonly kind: 'renewed'; readonly ms: number }
  | { readonly kind: 'ended'; readonly why: EndReason; readonly detail: string }
  | { readonly kind: 'end-failed'; readonly error: unknown };

export type EndReason = 'episodes' | 'memory' | 'unhealthy' | 'spoiled' | 'not-renewed';

export type AcquireOptions = {
  readonly signal: AbortSignal;
  /** Milliseconds; default 120000. */
  readonly deadlineMs?: number;
};

export interface SessionPool extends AsyncDisposable {
  readonly state: { readonly lent: number; readonly idle: number; readonly preparing: number };
  /** The session that has been idle longest, or the next one. Dispose it to give it back. */
  acquire(options: AcquireOptions): Promise<SessionLease>;
}

type Entry = { readonly warm: WarmSession; episodes: number; ended?: Promise<void> };
type Waiter = { readonly give: (entry: Entry) => void; readonly fail: (error: unknown) => void };

const MAX_BOOT_FAILURES = 3;
/** Where many share a processor an answer takes long, and another session would be as slow. */
const HEALTH_MS = 20_000;
const GIB = 1024 ** 3;

export function createSessionPool(options: SessionPoolOptions): SessionPool {
  const { boot, sessions, episodes = 1, memoryBytes = 2 * GIB, checkEveryMs = 30_000 } = options;
  const onEvent = options.onEvent ?? (() => undefined);
  const lifetime = new AbortController();
  const boots = createSemaphore(options.boots ?? 2);
  const all = new Set<Entry>();
  const idle: Entry[] = [];
  const lent = new Set<Entry>();
  const waiting: Waiter[] = [];
  const work = new Set<Promise<void>>();
  let booting = 0;
  let failures = 0;

  /** Runs it apart from any caller; it tells of its failures by events. */
  const apart = (task: Promise<void>): void => {
    work.add(task);
    void task.finally(() => work.delete(task));
  };
  const offer = (entry: Entry): void => {
    const next = waiting.shift();
    if (next === undefined) idle.push(entry);
    else next.give(entry);
  };
  const end = (entry: Entry, why?: EndReason, detail = ''): Promise<void> => {
    if (entry.ended === undefined && why !== undefined) onEvent({ kind: 'ended', why, detail });
    return (entry.ended ??= endNow(entry));
  };
  const endNow = async (entry: Entry): Promise<void> => {
    try {
      await entry.warm[Symbol.asyncDispose]();
    } catch (error) {
      onEvent({ kind: 'end-failed', error });
    }
    all.delete(entry);
    fill();
  };
  const bootOne = async (): Promise<void> => {
    const start = performance.now();
    try {
      const warm = await boots.run(() => boot(lifetime.signal), lifetime.signal);
      const entry: Entry = { warm, episodes: 0 };
      all.add(entry);
      failures = 0;
      onEvent({ kind: 'booted', ms: performance.now() - start });
      if (lifetime.signal.aborted) await end(entry);
      else offer(entry);
    } catch (error) {
      if (lifetime.signal.aborted) return; // the end of the pool is why
      failures++;
      onEvent({ kind: 'boot-failed', error });
      // Trying for ever would hide a fault of the machine; the next one who asks tries again.
      if (failures >= MAX_BOOT_FAILURES) for (const one of waiting.splice(0)) one.fail(error);
    } finally {
      booting--;
      fill();
    }
  };
  const fill = (): void => {
    while (!lifetime.signal.aborted && failures < MAX_BOOT_FAILURES && all.size + booting < sessions) {
      booting++;
      apart(bootOne());
    }
  };
  const renew = async (entry: Entry): Promise<void> => {
    const start = performance.now();
    try {
      await entry.warm.renew(lifetime.signal);
    } catch (error) {
      await end(entry, 'not-renewed', messageOf(error));
      return;
    }
    onEvent({ kind: 'renewed', ms: performance.now() - start });
    await endIfGrown(entry);
  };
  const endIfGrown = async (entry: Entry): Promise<void> => {
    const used = entry.warm.session.memory() ?? 0;
    if (used > memoryBytes) await end(entry, 'memory', `${used} bytes, allowed are ${memoryBytes}`);
    else offer(entry);
  };
  const takeBack = async (entry: Entry, spoiled: string | undefined): Promise<void> => {
    lent.delete(entry);
    entry.episodes++;
    if (lifetime.signal.aborted) return end(entry); // ended with the pool
    if (spoiled !== undefined) return end(entry, 'spoiled', spoiled);
    if (entry.episodes >= episodes) return end(entry, 'episodes', `${entry.episodes}`);
    apart(renew(entry));
  };
  const next = (signal: AbortSignal): Promise<Entry> => {
    const ready = idle.shift();
    if (ready !== undefined) return Promise.resolve(ready);
    failures = 0;
    fill();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        give(entry) {
          off();
          resolve(entry);
        },
        fail(error) {
          off();
          reject(notBooted(error));
        },
      };
      const off = onAbort(signal, () => {
        waiting.splice(waiting.indexOf(waiter), 1);
        reject(signal.reason as Error);
      });
      waiting.push(waiter);
    });
  };
  const lend = async (signal: AbortSignal): Promise<SessionLease> => {
    for (;;) {
      const entry = await next(signal);
      try {
        const health = await entry.warm.session.health({ signal, deadlineMs: HEALTH_MS });
        signal.throwIfAborted();
        if (health.ok) {
          lent.add(entry);
          return createLease(entry.warm.session, (spoiled) => takeBack(entry, spoiled));
        }
        apart(end(entry, 'unhealthy', health.reason));
      } catch (error) {
        offer(entry); // the one who asked has gone
        throw error;
      }
    }
  };
  const look = async (): Promise<void> => {
    for (;;) {
      await sleep(checkEveryMs, lifetime.signal);
      for (const entry of [...idle]) {
        const at = idle.indexOf(entry);
        if (at === -1) continue; // lent since
        idle.splice(at, 1);
        const health = await entry.warm.session.health({ signal: lifetime.signal, deadlineMs: HEALTH_MS });
        if (health.ok) await endIfGrown(entry);
        else await end(entry, 'unhealthy', health.reason);
      }
    }
  };
  apart(
    look().catch((error: unknown) => {
      if (!lifetime.signal.aborted) throw error; // the end of the pool is what ends it
    }),
  );
  fill();

  return {
    get state() {
      return { lent: lent.size, idle: idle.length, preparing: booting + all.size - lent.size - idle.length };
    },
    async acquire({ signal, deadlineMs = 120_000 }) {
      lifetime.signal.throwIfAborted();
      const onExpiry = (): Error => acquireTimeout(deadlineMs, sessions);
      return withDeadline({ ms: deadlineMs, signal, onExpiry }, lend);
    },
    async [Symbol.asyncDispose]() {
      const closed = new TabwrightError('browser', 'The pool of sessions has been closed.', { code: 'pool-closed' });
      lifetime.abort(closed);
      for (const one of waiting.splice(0)) one.fail(closed);
      await Promise.all([...all].map((entry) => end(entry)));
      await Promise.all(work);
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function notBooted(cause: unknown): TabwrightError {
  if (cause instanceof TabwrightError) return cause;
  return new TabwrightError('browser', `no session could be started: ${messageOf(cause)}`, {
    code: 'session-not-started',
    retryable: true,
    cause,
  });
}

function acquireTimeout(ms: number, sessions: number): TabwrightError {
  return new TabwrightError(
    'browser',
    `none of ${sessions} sessions was free within ${ms} ms; give sessions back, keep more of them, or wait longer`,
    { code: 'session-acquire-timeout', details: { ms, sessions }, retryable: true },
  );
}
