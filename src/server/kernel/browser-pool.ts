// Browsers opened ahead, as Kernel's pools keep them: what is given back with `reuse` keeps its tabs, cookies and REPL,
// and the settings it was made with. Cleaning up between episodes is the client's, as it is there.

import type { OpenSession, ReplSession } from '../repl-session.ts';
import { onAbort, withDeadline } from '../../util/index.ts';
import { createId } from './create-id.ts';
import { failure } from './failures.ts';
import { openBrowser } from './open-browser.ts';
import type { PoolSettings } from './schemas.ts';

export type PooledSession = {
  /** Its own for as long as it lives, whoever has it. */
  readonly id: string;
  readonly createdAt: Date;
  readonly session: ReplSession;
  /** Those it was made with, which the pool's may have outgrown. */
  readonly settings: PoolSettings;
};

export interface BrowserPool extends AsyncDisposable {
  readonly settings: PoolSettings;
  readonly available: number;
  readonly acquired: number;
  /** Undefined when there was none within `waitMs`. Rejects when none could be made. */
  acquire(options: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<PooledSession | undefined>;
  release(pooled: PooledSession, options: { readonly reuse: boolean }): Promise<void>;
  /** Ends the browsers that nobody has; others take their places. */
  flush(): Promise<void>;
  update(settings: PoolSettings): Promise<void>;
}

export type BrowserPoolOptions = {
  readonly settings: PoolSettings;
  readonly openSession: OpenSession;
  /** Told of browsers that could not be made or ended while nobody waited for them. */
  readonly onFailure: (error: unknown) => void;
};

type Waiting = { readonly give: (pooled: PooledSession) => void; readonly fail: (error: unknown) => void };

export function createBrowserPool({ openSession, onFailure, ...options }: BrowserPoolOptions): BrowserPool {
  const closing = new AbortController();
  const acquired = new Set<PooledSession>();
  const starting = new Set<Promise<void>>();
  let opening = 0;
  const waiting: Waiting[] = [];
  let idle: PooledSession[] = [];
  let settings = options.settings;

  const total = (): number => idle.length + acquired.size + opening;
  const end = async (some: readonly PooledSession[]): Promise<void> => {
    const ended = await Promise.allSettled(some.map(({ session }) => session[Symbol.asyncDispose]()));
    for (const one of ended) if (one.status === 'rejected') onFailure(one.reason);
  };
  const offer = (pooled: PooledSession): void => {
    const next = waiting.shift();
    if (next === undefined) idle.push(pooled);
    else {
      acquired.add(pooled);
      next.give(pooled);
    }
  };
  const start = async (): Promise<void> => {
    const made = settings;
    let session: ReplSession;
    try {
      session = await openBrowser({ openSession, settings: made, signal: closing.signal });
    } catch (error) {
      opening--;
      if (closing.signal.aborted) return; // the closing is why
      // Trying again at once would go on for ever; the next request tries again. Until then the last one tells why.
      const last = opening === 0;
      if (!last || waiting.length === 0) onFailure(error);
      if (last) for (const one of waiting.splice(0)) one.fail(error);
      return;
    }
    opening--;
    const pooled = { id: createId(), createdAt: new Date(), session, settings: made };
    if (closing.signal.aborted) await end([pooled]);
    else offer(pooled);
    await shrink(); // the pool may have become smaller in the meantime
  };
  const fill = (): void => {
    while (!closing.signal.aborted && total() < settings.size) {
      opening++;
      const started = start().finally(() => starting.delete(started));
      starting.add(started);
    }
  };
  const shrink = (): Promise<void> => end(idle.splice(0, Math.max(0, total() - settings.size)));
  const dropClosed = async (): Promise<void> => {
    const closed = idle.filter(({ session }) => session.closed);
    if (closed.length === 0) return;
    idle = idle.filter((pooled) => !closed.includes(pooled));
    await end(closed);
  };

  fill();
  return {
    get settings() {
      return settings;
    },
    get available() {
      return idle.length;
    },
    get acquired() {
      return acquired.size;
    },
    async acquire({ waitMs, signal }) {
      await dropClosed();
      if (closing.signal.aborted) throw gone();
      const ready = idle.shift();
      if (ready !== undefined) acquired.add(ready);
      fill();
      return ready ?? waitFor(waiting, waitMs, signal);
    },
    async release(pooled, { reuse }) {
      acquired.delete(pooled);
      const keep = reuse && !pooled.session.closed && !closing.signal.aborted && total() < settings.size;
      if (keep) offer(pooled);
      else await end([pooled]);
      fill();
    },
    async flush() {
      await end(idle.splice(0));
      fill();
    },
    async update(next) {
      settings = next;
      await shrink();
      fill();
    },
    async [Symbol.asyncDispose]() {
      closing.abort(gone());
      for (const one of waiting.splice(0)) one.fail(gone());
      await Promise.all([end([...idle.splice(0), ...acquired]), ...starting]);
      acquired.clear();
    },
  };
}

function gone(): Error {
  return failure('not-found', 'The pool has been deleted.');
}

async function waitFor(waiting: Waiting[], ms: number, signal: AbortSignal): Promise<PooledSession | undefined> {
  const late = new Error('no browser became free');
  try {
    return await withDeadline({ ms, signal, onExpiry: () => late }, (givenUp) => {
      return new Promise<PooledSession>((resolve, reject) => {
        const one: Waiting = {
          give: (pooled) => {
            off();
            resolve(pooled);
          },
          fail: (error) => {
            off();
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        };
        // Whoever gives up leaves the line in the same moment, or a browser would be given to nobody.
        const off = onAbort(givenUp, () => void waiting.splice(waiting.indexOf(one), 1));
        waiting.push(one);
      });
    });
  } catch (error) {
    if (error === late) return undefined;
    throw error;
  }
}
