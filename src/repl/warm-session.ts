// A session over a browser that outlives it: at each renewal the cell process is another one, the browser is cleaned and
// the scratch folder emptied. The browser is connected to anew for each episode.

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CdpConnection, Viewport } from '../browser/index.ts';
import { TabwrightError } from '../core/index.ts';
import { withDeadline } from '../util/index.ts';
import { cleanBrowser } from './clean-browser.ts';
import type { WarmSession } from './pool.ts';
import { openReplSession, type OpenReplSessionOptions, type ReplSession } from './session.ts';

export type WarmSessionOptions = Omit<OpenReplSessionOptions, 'signal'> & {
  /** A connection that is one episode's own: closing it ends what the episode did to the browser as a whole. */
  readonly connect: (signal: AbortSignal) => Promise<CdpConnection>;
  readonly viewport?: Viewport;
  /** Ends the browser, or lets go of it, and whatever else was started for this session. */
  readonly close: () => Promise<void>;
};

/** An idle machine takes a hundredth of it; where many share a processor it is the browser's start that is waited for. */
const CLEAN_MS = 60_000;

/** Where it cannot be made, everything is closed. */
export async function bootWarmSession(options: WarmSessionOptions, signal: AbortSignal): Promise<WarmSession> {
  const { viewport, close, ...parts } = options;
  const clean = async (inner: AbortSignal): Promise<void> => {
    const cdp = await parts.connect(inner);
    try {
      await cleanBrowser({
        send: (method, params, sessionId) => cdp.request(method, params, sessionId),
        signal: inner,
        ...(viewport === undefined ? {} : { viewport }),
      });
    } finally {
      cdp.close();
    }
  };
  const open = async (wait: AbortSignal): Promise<ReplSession> => {
    await withDeadline({ ms: CLEAN_MS, signal: wait, onExpiry: cleaningTimeout }, clean);
    return openReplSession({ ...parts, signal: wait });
  };

  let session: ReplSession;
  let ended: Promise<void> | undefined;
  try {
    session = await open(signal);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    get session() {
      return session;
    },
    async renew(wait) {
      await session[Symbol.asyncDispose]();
      await emptyFolder(parts.scratch.host);
      const next = await open(wait);
      session = next;
      if (ended !== undefined) await next[Symbol.asyncDispose](); // the end came while it was being opened
    },
    [Symbol.asyncDispose]: () => (ended ??= session[Symbol.asyncDispose]().finally(close)),
  };
}

/** Links in it are removed and not followed. */
async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

function cleaningTimeout(): TabwrightError {
  return new TabwrightError('browser', `the browser was not clean within ${CLEAN_MS} ms`, {
    code: 'not-clean',
    details: { ms: CLEAN_MS },
    retryable: true,
  });
}
