// The environment click-checkboxes: its page on loopback, warm pages in one browser, an episode a puzzle.

import {
  createPagePool,
  launchBrowser,
  openPage,
  type Browser,
  type LaunchOptions,
  type ObservationStyle,
  type Viewport,
} from '../../browser/index.ts';
import { TabwrightError, type Env, type Task } from '../../core/index.ts';
import { servePage } from '../loopback-site.ts';
import { openEpisode } from './episode.ts';
import { PAGE_SOURCE } from './page-source.ts';
import { createPuzzle } from './puzzle.ts';

export type ClickCheckboxesOptions = {
  /** How to start the browser. Default: whatever `launchBrowser` finds, in begin-frame mode where it can. */
  readonly browser?: LaunchOptions;
  /** Episodes open at once. Default 4. */
  readonly pages?: number;
  /** Default 10. */
  readonly maxActions?: number;
  /** How a control's line is written. Default `name-first`. */
  readonly style?: ObservationStyle;
  /** CSS pixels. Default 332 x 214, the size of BrowserGym's MiniWoB++ pages. */
  readonly viewport?: Viewport;
  /** Starts of the browser after the first. Default 5. */
  readonly maxRelaunches?: number;
  /** Gives up the start. */
  readonly signal?: AbortSignal;
};

export const CLICK_CHECKBOXES = 'click-checkboxes';

export interface ClickCheckboxesEnv extends Env {
  /** How often a dead browser was started again. */
  readonly relaunches: number;
  /** The browser in use, e.g. `HeadlessChrome/147.0.7727.0`, and how it is driven. */
  readonly browser: Pick<Browser, 'product' | 'mode' | 'pid'>;
}

/** Starts the browser at once, so that a machine without one is told before anything else happens. */
export async function createClickCheckboxesEnv(options: ClickCheckboxesOptions = {}): Promise<ClickCheckboxesEnv> {
  const { pages = 4, maxActions = 10, style = 'name-first', viewport = { width: 332, height: 214 } } = options;
  const site = await servePage(PAGE_SOURCE);
  let running: Browser | undefined;
  const pool = createPagePool({
    pages,
    ...(options.maxRelaunches === undefined ? {} : { maxRelaunches: options.maxRelaunches }),
    launch: async (signal) => (running = await launchBrowser({ ...options.browser, signal })),
    openPage: (browser, signal) => openPage(browser, { url: site.url, viewport, signal }),
  });
  const dispose = async (): Promise<void> => {
    await pool[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  };
  try {
    await pool.browser(options.signal ?? new AbortController().signal);
  } catch (error) {
    await dispose();
    throw error;
  }

  return {
    name: CLICK_CHECKBOXES,
    capacity: pages,
    maxActions,
    get browser() {
      const { product, mode, pid } = running!; // started above
      return { product, mode, pid };
    },
    get relaunches() {
      return pool.relaunches;
    },
    task: (seed): Task => ({
      id: `${CLICK_CHECKBOXES}/${seed}`,
      env: CLICK_CHECKBOXES,
      instruction: createPuzzle(seed).instruction,
      seed,
    }),
    async open(task, { signal }) {
      if (task.env !== CLICK_CHECKBOXES) {
        throw new TabwrightError('env', `the task ${task.id} is of ${task.env}, not of ${CLICK_CHECKBOXES}`, {
          code: 'wrong-env',
          details: { task: task.id, env: task.env },
        });
      }
      const lease = await pool.acquire(signal);
      try {
        return await openEpisode({ puzzle: createPuzzle(task.seed), lease, maxActions, style, signal });
      } catch (error) {
        await lease[Symbol.asyncDispose]();
        throw error;
      }
    },
    [Symbol.asyncDispose]: dispose,
  };
}
