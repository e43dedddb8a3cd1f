// A session whose browser is started here. A browser that dies is started again a few times, so that a cell can go on;
// what its pages held is gone.

import type { Browser, CdpConnection, Viewport } from '../browser/index.ts';
import { TabwrightError } from '../core/index.ts';
import { createSemaphore } from '../util/index.ts';
import { connectEpisode } from './episode-connection.ts';
import { createLease, type SessionLease } from './lease.ts';
import type { WarmSession } from './pool.ts';
import { memoryOf, openPlace, type PlaceOptions } from './session-place.ts';
import type { OpenReplSessionOptions } from './session.ts';
import { bootWarmSession } from './warm-session.ts';

export type LocalSessionOptions = PlaceOptions &
  Pick<OpenReplSessionOptions, 'extensions'> & {
    /** CSS pixels; default: the browser's own. */
    readonly viewport?: Viewport;
  };

/** Starts of the browser after the first. */
const MAX_RELAUNCHES = 3;

/** One session for whoever needs no pool; ends with its disposal. */
export async function openLocalSession(options: LocalSessionOptions, signal: AbortSignal): Promise<SessionLease> {
  const warm = await bootLocalSession(options, signal);
  return createLease(warm.session, () => warm[Symbol.asyncDispose]());
}

export async function bootLocalSession(options: LocalSessionOptions, signal: AbortSignal): Promise<WarmSession> {
  const { viewport, extensions } = options;
  const place = await openPlace(options);
  const turn = createSemaphore(1);
  let browser: Browser | undefined;
  let launches = 0;
  let closed = false;

  const running = async (wait: AbortSignal): Promise<Browser> => {
    if (browser !== undefined && !browser.closed) return browser;
    if (closed) throw new TabwrightError('browser', 'The session has been closed.', { code: 'session-ended' });
    await browser?.[Symbol.asyncDispose]();
    if (launches > MAX_RELAUNCHES) throw diesTooOften(launches, browser?.stderr ?? '');
    launches++;
    browser = await place.launch(wait);
    return browser;
  };
  const connect = (wait: AbortSignal): Promise<CdpConnection> =>
    turn.run(async () => connectEpisode((await running(wait)).cdp), wait);

  return bootWarmSession(
    {
      connect,
      scratch: place.scratch,
      httpGet: place.httpGet,
      cell: place.cell,
      memory: () => memoryOf([browser?.pid, place.cellPid]),
      async close() {
        closed = true;
        try {
          await turn.run(async () => browser?.[Symbol.asyncDispose]()); // one that was just being started is met here
        } finally {
          await place[Symbol.asyncDispose]();
        }
      },
      ...(viewport === undefined ? {} : { viewport }),
      ...(extensions === undefined ? {} : { extensions }),
    },
    signal,
  );
}

function diesTooOften(launches: number, stderr: string): TabwrightError {
  return new TabwrightError(
    'browser',
    `Chromium died ${launches} times in one session; see its last words in the details, and check the machine's memory`,
    { code: 'browser-relaunch-limit', details: { launches, stderr } },
  );
}
