// Sessions by the names that clients choose, opened when a name is first used and ended together.

import { TabwrightError } from '../../core/index.ts';
import type { OpenSession, ReplSession } from '../repl-session.ts';

export interface NamedSessions extends AsyncDisposable {
  /** Opens another one where the browser of that name is gone. */
  get(name: string): Promise<ReplSession>;
}

export type NamedSessionsOptions = { readonly openSession: OpenSession; readonly maxSessions: number };

export function createNamedSessions({ openSession, maxSessions }: NamedSessionsOptions): NamedSessions {
  const ending = new AbortController();
  const sessions = new Map<string, Promise<ReplSession>>();

  const open = (name: string): Promise<ReplSession> => {
    if (sessions.size >= maxSessions) {
      const names = [...sessions.keys()].join(', ');
      throw new TabwrightError('env', `${maxSessions} browsers are open, and no more may be. Use one of: ${names}.`, {
        code: 'limit-reached',
      });
    }
    const opening = openSession({ signal: ending.signal });
    sessions.set(name, opening);
    opening.catch(() => sessions.delete(name)); // whoever waits for it gets the failure
    return opening;
  };

  const get = async (name: string): Promise<ReplSession> => {
    ending.signal.throwIfAborted();
    const known = sessions.get(name);
    if (known === undefined) return open(name);
    const session = await known;
    if (!session.closed) return session;
    if (sessions.get(name) === known) {
      sessions.delete(name);
      await session[Symbol.asyncDispose]();
    }
    return get(name);
  };

  return {
    get,
    async [Symbol.asyncDispose]() {
      ending.abort(new TabwrightError('env', 'The server is shutting down.', { code: 'shutting-down' }));
      const settled = await Promise.allSettled(sessions.values());
      await Promise.all(
        settled.map(async (one) => {
          if (one.status === 'fulfilled') await one.value[Symbol.asyncDispose]();
        }),
      );
      sessions.clear();
    },
  };
}
