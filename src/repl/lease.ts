// A session that is lent: disposing it gives it back. What went wrong while it was lent is kept in mind, because a
// session of which nobody knows what it did must not serve another episode.

import { TabwrightError } from '../core/index.ts';
import type { ReplSession } from './session.ts';

export interface SessionLease extends ReplSession {
  /** Why the session will not be used again; undefined while nothing speaks against it. */
  readonly spoiled: string | undefined;
  /** For what its results do not tell. The first reason counts. */
  spoil(reason: string): void;
}

/** Refused before anything was run. */
const NOTHING_RUN: ReadonlySet<string> = new Set(['cell-empty', 'cell-refused', 'cell-timeout', 'cell-too-large']);

/** `release` is called once, with the reason why the session is not to be used again, if there is one. */
export function createLease(
  session: ReplSession,
  release: (spoiled: string | undefined) => Promise<void>,
): SessionLease {
  let spoiled: string | undefined;
  let released: Promise<void> | undefined;
  const held = (): ReplSession => {
    if (released === undefined) return session;
    throw new TabwrightError('env', 'The session has been given back.', { code: 'session-given-back' });
  };
  const spoil = (reason: string): void => {
    spoiled ??= reason;
  };

  return {
    id: session.id,
    log: session.log,
    get closed() {
      return released !== undefined || session.closed;
    },
    get spoiled() {
      return spoiled;
    },
    spoil,
    async execute(request) {
      try {
        const result = await held().execute(request);
        if (result.repl_terminated === true) spoil(result.error ?? 'its runtime was terminated');
        return result;
      } catch (error) {
        if (!(error instanceof TabwrightError && NOTHING_RUN.has(error.code))) {
          spoil(error instanceof Error ? error.message : String(error));
        }
        throw error;
      }
    },
    navigate: async (url, wait) => held().navigate(url, wait),
    screenshot: async (wait) => held().screenshot(wait),
    ...(session.tab === undefined ? {} : { tab: async (wait) => held().tab?.(wait) }),
    ...(session.connection === undefined ? {} : { connection: async (wait) => held().connection!(wait) }),
    ...(session.refuseRewrites === undefined ? {} : { refuseRewrites: () => held().refuseRewrites?.() }),
    health: async (wait) => held().health(wait),
    memory: () => held().memory(),
    [Symbol.asyncDispose]: () => (released ??= release(session.closed ? (spoiled ?? 'its browser is gone') : spoiled)),
  };
}
