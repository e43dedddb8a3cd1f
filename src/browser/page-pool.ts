// Warm pages over one browser. A page that is given back usable serves the next episode; a broken one is closed and
// replaced; a browser that died is started again, a bounded number of times, because one that keeps dying is a
// fault of the machine and not of an episode.

import { TabwrightError } from '../core/index.ts';
import { abortable, createSemaphore } from '../util/index.ts';
import type { Browser } from './browser.ts';
import type { Page } from './page.ts';

export type PagePoolOptions = {
  readonly launch: (signal: AbortSignal) => Promise<Browser>;
  /** Opens a page and makes it ready for use. */
  readonly openPage: (browser: Browser, signal: AbortSignal) => Promise<Page>;
  /** Pages in use at once, at most. */
  readonly pages: number;
  /** Starts after the first; default 5. */
  readonly maxRelaunches?: number;
};

export type PageLease = { readonly page: Page } & AsyncDisposable;

export interface PagePool extends AsyncDisposable {
  /** Starts of the browser after the first. */
  readonly relaunches: number;
  /** The running browser, started if need be. */
  browser(signal: AbortSignal): Promise<Browser>;
  /** A usable page, waiting for one; dispose the lease to give it back. */
  acquire(signal: AbortSignal): Promise<PageLease>;
}

export function createPagePool(options: PagePoolOptions): PagePool {
  const maxRelaunches = options.maxRelaunches ?? 5;
  const permits = createSemaphore(options.pages);
  const idle: Page[] = [];
  const lifetime = new AbortController();
  let current: Promise<Browser> | undefined;
  let launches = 0;

  const relaunch = async (previous: Browser | undefined): Promise<Browser> => {
    await previous?.[Symbol.asyncDispose]();
    if (launches > maxRelaunches) {
      throw new TabwrightError(
        'browser',
        `Chromium died ${launches} times; see its last words in the details, and check the machine's memory`,
        { code: 'browser-relaunch-limit', details: { launches, stderr: previous?.stderr ?? '' } },
      );
    }
    launches++;
    // The pool's own signal: a start serves every waiter, so no single one may abort it.
    return options.launch(lifetime.signal);
  };

  const browser = async (signal: AbortSignal): Promise<Browser> => {
    signal.throwIfAborted();
    lifetime.signal.throwIfAborted();
    const before = current;
    // A start that failed is tried again, and counted.
    const running =
      before === undefined
        ? undefined
        : await abortable(
            before.catch(() => undefined),
            signal,
          );
    if (running !== undefined && !running.closed) return running;
    if (current === before) current = relaunch(running);
    return abortable(current!, signal);
  };

  return {
    get relaunches() {
      return Math.max(0, launches - 1);
    },
    browser,
    async acquire(signal) {
      const release = await permits.acquire(signal);
      try {
        const owner = await browser(signal);
        const page = takeUsable(idle) ?? (await options.openPage(owner, signal));
        let held = true;
        return {
          page,
          async [Symbol.asyncDispose]() {
            if (!held) return;
            held = false;
            if (page.usable && !lifetime.signal.aborted) idle.push(page);
            else await page[Symbol.asyncDispose]();
            release();
          },
        };
      } catch (error) {
        release();
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      lifetime.abort();
      const running = await current?.catch(() => undefined);
      await running?.[Symbol.asyncDispose]();
    },
  };
}

function takeUsable(idle: Page[]): Page | undefined {
  for (let page = idle.pop(); page !== undefined; page = idle.pop()) if (page.usable) return page;
  return undefined;
}
