// Makes a browser as if nobody had used it: one blank tab and nothing kept. What lives in the process itself (caches of
// names and connections, a page's grip on a bug) is out of reach: for that, end the browser.

import { TabwrightError } from '../core/index.ts';
import { sleep } from '../util/index.ts';
import type { Viewport } from '../browser/index.ts';

export type CleanBrowserOptions = {
  /** Sends a command; without a session it goes to the browser. */
  readonly send: (method: string, params: object, sessionId?: string) => Promise<unknown>;
  /** CSS pixels of the blank tab, and of those opened beside it. Default: the browser's own. */
  readonly viewport?: Viewport;
  /** Milliseconds that tabs may take to close. Default 5,000; longer where the browser is asked too seldom in that time. */
  readonly closeMs?: number;
  readonly signal: AbortSignal;
};

type TargetInfo = { readonly targetId: string; readonly type: string };

/** A page that spins is killed by Chromium before that. */
const CLOSE_MS = 5_000;
/** Time alone would be no measure: a browser that hardly gets a processor takes longer for everything, answers included. */
const CLOSE_LOOKS = 100;
/** What goes by closing tabs or by clearing storage, sooner or later. */
const OF_PAGES: ReadonlySet<string> = new Set(['page', 'iframe', 'service_worker', 'shared_worker', 'worker']);

/** Rejects with `not-clean` when something of what was there stays. */
export async function cleanBrowser({ send, viewport, closeMs = CLOSE_MS, signal }: CleanBrowserOptions): Promise<void> {
  const { browserContextIds } = (await send('Target.getBrowserContexts', {})) as {
    readonly browserContextIds: readonly string[];
  };
  for (const browserContextId of browserContextIds) await send('Target.disposeBrowserContext', { browserContextId });

  const { targetId: blank } = (await send('Target.createTarget', {
    url: 'about:blank',
    ...(viewport === undefined ? {} : { ...viewport, newWindow: true }),
  })) as { readonly targetId: string };
  const others = async (): Promise<readonly TargetInfo[]> => {
    const { targetInfos } = (await send('Target.getTargets', {})) as { readonly targetInfos: readonly TargetInfo[] };
    return targetInfos.filter(({ targetId, type }) => targetId !== blank && OF_PAGES.has(type));
  };
  const end = { closeMs, signal };
  // Tabs first: a page that is still there would store things again. One that is closed may open another on its way.
  await until(async () => {
    const tabs = (await others()).filter(({ type }) => type === 'page');
    // One that has closed itself meanwhile is refused; whether they are gone is what the next look shows.
    for (const { targetId } of tabs) await send('Target.closeTarget', { targetId }).catch(() => undefined);
    return tabs;
  }, end);

  const { sessionId } = (await send('Target.attachToTarget', { targetId: blank, flatten: true })) as {
    readonly sessionId: string;
  };
  await send('Network.clearBrowserCookies', {}, sessionId);
  await send('Network.clearBrowserCache', {}, sessionId);
  // An origin that is none stands for all of them.
  await send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' }, sessionId);
  if (viewport !== undefined) await fitWindow(send, { targetId: blank, sessionId }, viewport);
  await send('Target.detachFromTarget', { sessionId });
  await send('Browser.resetPermissions', {});
  await until(others, end);
}

/** A window may have bars around its page: it is made larger by what they take. */
async function fitWindow(
  send: CleanBrowserOptions['send'],
  { targetId, sessionId }: { readonly targetId: string; readonly sessionId: string },
  { width, height }: Viewport,
): Promise<void> {
  const { windowId, bounds } = (await send('Browser.getWindowForTarget', { targetId })) as {
    readonly windowId: number;
    readonly bounds: Viewport;
  };
  const { cssLayoutViewport: page } = (await send('Page.getLayoutMetrics', {}, sessionId)) as {
    readonly cssLayoutViewport: { readonly clientWidth: number; readonly clientHeight: number };
  };
  await send('Browser.setWindowBounds', {
    windowId,
    bounds: {
      width: width + bounds.width - page.clientWidth,
      height: height + bounds.height - page.clientHeight,
    },
  });
}

/** Asks until nothing is left. */
async function until(
  left: () => Promise<readonly TargetInfo[]>,
  { closeMs, signal }: Required<Pick<CleanBrowserOptions, 'closeMs' | 'signal'>>,
): Promise<void> {
  const start = performance.now();
  for (let looks = 1; ; looks++) {
    const remaining = await left();
    if (remaining.length === 0) return;
    const ms = Math.round(performance.now() - start);
    if (ms > closeMs && looks >= CLOSE_LOOKS) {
      const types = remaining.map(({ type }) => type);
      throw new TabwrightError(
        'browser',
        `the browser still has ${types.join(', ')} after ${ms} ms and ${looks} looks of cleaning`,
        {
          code: 'not-clean',
          details: { types, ms, looks },
        },
      );
    }
    await sleep(10, signal);
  }
}
