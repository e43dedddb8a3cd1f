// Sessions over browsers that somebody else runs and whose protocol can be reached: the cells run here, one browser
// serves one episode at a time and is cleaned before each. Files that cells write stay here, so uploads need a browser
// that sees the same folder. Ending such a browser is not ours: one that does not come clean is not used.

import { connectRemoteCdp } from '../../browser/index.ts';
import type { LocalSessionOptions } from '../local-session.ts';
import { createSessionPool, type SessionPool, type SessionPoolOptions, type WarmSession } from '../pool.ts';
import { memoryOf, openPlace } from '../session-place.ts';
import { bootWarmSession } from '../warm-session.ts';
import type { SessionProvider } from './provider.ts';

export type CdpProviderOptions = Omit<LocalSessionOptions, 'location'> &
  Omit<SessionPoolOptions, 'boot' | 'sessions' | 'episodes'> & {
    /** One browser each: `ws://` or `wss://` of the browser, or `http://host:port` of its debugging port. */
    readonly endpoints: readonly string[];
  };

export function createCdpProvider(options: CdpProviderOptions): SessionProvider & Pick<SessionPool, 'state'> {
  const { endpoints, viewport, extensions } = options;
  const free = [...endpoints];
  const boot = async (signal: AbortSignal): Promise<WarmSession> => {
    // The pool has as many sessions as there are endpoints, so one is free.
    const place = await openPlace(options);
    const endpoint = free.shift()!;
    return bootWarmSession(
      {
        connect: (wait) => connectRemoteCdp({ endpoint, signal: wait }),
        scratch: place.scratch,
        httpGet: place.httpGet,
        cell: place.cell,
        memory: () => memoryOf([place.cellPid]),
        async close() {
          free.push(endpoint);
          await place[Symbol.asyncDispose]();
        },
        ...(viewport === undefined ? {} : { viewport }),
        ...(extensions === undefined ? {} : { extensions }),
      },
      signal,
    );
  };
  const pool = createSessionPool({ ...options, boot, sessions: endpoints.length, episodes: Infinity });
  return {
    kind: 'cdp',
    get state() {
      return pool.state;
    },
    acquire: (wait) => pool.acquire(wait),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}
