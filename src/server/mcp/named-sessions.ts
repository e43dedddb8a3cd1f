// Sessions by the names that clients choose, opened when a name is first used. One that nobody has used for a while is
// ended, because a client does not say when it is done; all others end together.

import { TabwrightError } from '../../core/index.ts';
import type { OpenSession, ReplSession } from '../repl-session.ts';

export interface NamedSessions extends AsyncDisposable {
  /** Works with the session of that name; opens another one where its browser is gone. */
  use<T>(name: string, work: (session: ReplSession) => Promise<T>): Promise<T>;
}

export type NamedSessionsOptions = {
  readonly openSession: OpenSession;
  readonly maxSessions: number;
  /** Milliseconds without use after which a session is ended. */
  readonly idleMs: number;
};

type Entry = { readonly opening: Promise<ReplSession>; users: number; timer?: NodeJS.Timeout };

export function createNamedSessions({ openSession, maxSessions, idleMs }: NamedSessionsOptions): NamedSessions {
  const ending = new AbortController();
  const entries = new Map<string, Entry>();
  const ends = new Set<Promise<void>>();

  const open = (name: string): Entry => {
    if (entries.size >= maxSessions) {
      const names = [...entries.keys()].join(', ');
      throw new TabwrightError('env', `${maxSessions} browsers are open, and no more may be. Use one of: ${names}.`, {
        code: 'limit-reached',
      });
    }
    const entry: Entry = { opening: openSession({ signal: ending.signal }), users: 0 };
    entries.set(name, entry);
    entry.opening.catch(() => remove(name, entry)); // whoever waits for it gets the failure
    return entry;
  };
  const remove = (name: string, entry: Entry): void => {
    clearTimeout(entry.timer);
    if (entries.get(name) === entry) entries.delete(name);
  };
  const end = async (name: string, entry: Entry): Promise<void> => {
    remove(name, entry);
    await (await entry.opening)[Symbol.asyncDispose]();
  };
  const endIdle = (name: string, entry: Entry): void => {
    const ended = end(name, entry);
    ends.add(ended);
    // How it went is told when the server is closed; one that went well has nothing to tell.
    ended.then(
      () => ends.delete(ended),
      () => undefined,
    );
  };
  const acquire = async (name: string): Promise<{ readonly entry: Entry; readonly session: ReplSession }> => {
    ending.signal.throwIfAborted();
    const entry = entries.get(name) ?? open(name);
    clearTimeout(entry.timer);
    entry.users++;
    try {
      const session = await entry.opening;
      if (!session.closed) return { entry, session };
      if (entries.get(name) === entry) await end(name, entry);
    } catch (error) {
      entry.users--;
      throw error;
    }
    return acquire(name);
  };

  return {
    async use(name, work) {
      const { entry, session } = await acquire(name);
      try {
        return await work(session);
      } finally {
        if (--entry.users === 0 && entries.get(name) === entry && !ending.signal.aborted) {
          entry.timer = setTimeout(() => endIdle(name, entry), idleMs).unref();
        }
      }
    },
    async [Symbol.asyncDispose]() {
      ending.abort(new TabwrightError('env', 'The server is shutting down.', { code: 'shutting-down' }));
      const open = [...entries.values()];
      entries.clear();
      for (const { timer } of open) clearTimeout(timer);
      const settled = await Promise.allSettled(open.map(({ opening }) => opening));
      await Promise.all([
        ...ends,
        ...settled.map(async (one) => {
          if (one.status === 'fulfilled') await one.value[Symbol.asyncDispose]();
        }),
      ]);
    },
  };
}
