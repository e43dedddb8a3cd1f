// Makes one browser by the settings of a request or a pool.

import type { OpenSession, ReplSession } from '../repl-session.ts';
import type { BrowserSettings } from './schemas.ts';

export type OpenBrowserOptions = {
  readonly openSession: OpenSession;
  readonly settings: BrowserSettings;
  readonly signal: AbortSignal;
};

export async function openBrowser({ openSession, settings, signal }: OpenBrowserOptions): Promise<ReplSession> {
  const { viewport, start_url } = settings;
  const session = await openSession({
    ...(viewport === undefined ? {} : { viewport: { width: viewport.width, height: viewport.height } }),
    signal,
  });
  if (start_url !== undefined) await tryToOpen(session, start_url, signal);
  return session;
}

/** An address to begin with is a convenience: where it cannot be opened, the browser is none the worse. */
export function tryToOpen(session: ReplSession, url: string, signal: AbortSignal): Promise<void> {
  return session.navigate(url, { signal }).catch(() => undefined);
}
