// MiniWoB++ as a suite: its pages served, one browser with warm pages, and an environment for any choice of its tasks.
// A page that has the right task loaded starts the next problem itself where that leaves no trace (see tasks.ts), else
// it is loaded anew.

import {
  createPagePool,
  launchBrowser,
  type Browser,
  type LaunchOptions,
  type Page,
  type PageLease,
} from '../../browser/index.ts';
import { TabwrightError, type Env, type StepOptions, type Task } from '../../core/index.ts';
import { createRng, sleep } from '../../util/index.ts';
import { findMiniwobContent, type MiniwobContent } from './content.ts';
import { openMiniwobEpisode, type MiniwobEpisode, type PageTraits } from './episode.ts';
import { PRELOAD_EXPRESSION, READY_EXPRESSION, type DataMode } from './page-script.ts';
import { serveMiniwob } from './site.ts';
import { MINIWOB_TASKS, miniwobTask, type MiniwobTask } from './tasks.ts';

export type MiniwobSuiteOptions = {
  /** Default: whatever `findMiniwobContent` finds. */
  readonly content?: MiniwobContent;
  /** How to start the browser. Default: whatever `launchBrowser` finds, in begin-frame mode where it can. */
  readonly browser?: LaunchOptions;
  /** Episodes open at once. Default 4. */
  readonly pages?: number;
  /** Default 30. */
  readonly maxActions?: number;
  /** How long an action's animations may take before the page is read anyway, milliseconds. Default 1000. */
  readonly settleMs?: number;
  /** Which generator four tasks use (click-checkboxes-transfer, click-test-transfer, two email-inbox-*-turk). Default `train`. */
  readonly mode?: DataMode;
  /** `task`: as the task's row says. `reload`: always, whatever it costs. Default `task`. */
  readonly reset?: 'task' | 'reload';
  /**
   * Every look at the page takes its picture with it, and an episode's `screenshot` gives that one: for policies that want the
   * picture of every step, in two thirds of the time. Default false: a picture is taken when it is asked for.
   */
  readonly pictures?: boolean;
  /** Starts of the browser after the first. Default 5. */
  readonly maxRelaunches?: number;
  readonly signal?: AbortSignal;
};

export const MINIWOB = 'miniwob';

export interface MiniwobEnv extends Env {
  open(task: Task, options: StepOptions): Promise<MiniwobEpisode>;
}

export interface MiniwobSuite extends AsyncDisposable {
  readonly browser: Pick<Browser, 'product' | 'mode' | 'pid'>;
  readonly relaunches: number;
  /**
   * Problems of these tasks: a seed names both the task and its problem; with one task it is the pages' own seed. The
   * environment lives as long as the suite; disposing it does nothing.
   */
  env(tasks: MiniwobTask['split'] | 'all' | readonly string[]): MiniwobEnv;
}

/** Viewport of BrowserGym's MiniWoB pages, without its zoom. */
const VIEWPORT = { width: 332, height: 214 };
/** The pages' seeds are below this, as BrowserGym draws them. */
const SEEDS = 1_000_000;

/** Starts the browser at once, so that a machine without one, or without the pages, is told before anything happens. */
export async function createMiniwobSuite(options: MiniwobSuiteOptions = {}): Promise<MiniwobSuite> {
  const { pages = 4, maxActions = 30, settleMs = 1_000, mode = 'train', reset = 'task', pictures = false } = options;
  const signal = options.signal ?? new AbortController().signal;
  const content = options.content ?? (await findMiniwobContent({ signal }));
  const site = await serveMiniwob(content);
  let running: Browser | undefined;
  const traitsOf = new WeakMap<Page, PageTraits>();
  const needTree = new Set<string>();
  const pool = createPagePool({
    pages,
    ...(options.maxRelaunches === undefined ? {} : { maxRelaunches: options.maxRelaunches }),
    launch: async (inner) => (running = await launchBrowser({ ...options.browser, signal: inner })),
    openPage: (browser, inner) => browser.newPage({ viewport: VIEWPORT, signal: inner }),
  });
  const dispose = async (): Promise<void> => {
    await pool[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  };
  try {
    await pool.browser(signal);
  } catch (error) {
    await dispose();
    throw error;
  }

  const ready = async ({ page }: PageLease, task: MiniwobTask, at: StepOptions): Promise<PageTraits> => {
    const traits = traitsOf.get(page) ?? { loaded: undefined, mouseParked: false, needTree };
    traitsOf.set(page, traits);
    const reusable = reset === 'task' && task.reset === 'reuse' && traits.loaded === task.name;
    if (reusable) return traits;
    traits.loaded = undefined;
    await page.navigate(site.urlOf(task.name), at);
    while ((await page.evaluate(READY_EXPRESSION, at)) !== true) await sleep(10, at.signal);
    await page.perform(
      'preload',
      (session) => session.send('Runtime.evaluate', { expression: PRELOAD_EXPRESSION, awaitPromise: true }),
      at,
    );
    traits.loaded = task.name;
    return traits;
  };

  const env = (choice: Parameters<MiniwobSuite['env']>[0]): MiniwobEnv => {
    const tasks = chosen(choice);
    const name = tasks.length === 1 ? `${MINIWOB}/${tasks[0].name}` : MINIWOB;
    return {
      name,
      capacity: pages,
      maxActions,
      task(seed) {
        const one = tasks.length === 1;
        const rng = createRng(MINIWOB, seed);
        const task = one ? tasks[0] : rng.pick(tasks);
        const pageSeed = one ? seed : rng.integer(0, SEEDS);
        return {
          id: `${MINIWOB}/${task.name}/${pageSeed}`,
          env: name,
          instruction: `Do what the page of ${task.name} asks for.`, // the page words it: see `Episode.instruction`
          seed,
          params: { task: task.name, pageSeed },
        };
      },
      async open({ id, env: owner, params }, at) {
        const task = tasks.find((candidate) => candidate.name === params?.task);
        const pageSeed = params?.pageSeed;
        if (owner !== name || task === undefined || typeof pageSeed !== 'number') {
          throw new TabwrightError('env', `The task ${id} is none of ${name}.`, {
            code: 'wrong-env',
            details: { task: id, env: owner },
          });
        }
        const lease = await pool.acquire(at.signal);
        try {
          const traits = await ready(lease, task, at);
          return await openMiniwobEpisode({
            task,
            seed: pageSeed,
            mode,
            lease,
            traits,
            maxActions,
            pictures,
            settleMs,
            signal: at.signal,
          });
        } catch (error) {
          await lease[Symbol.asyncDispose]();
          throw error;
        }
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  };

  return {
    get browser() {
      const { product, mode: frames, pid } = running!; // started above
      return { product, mode: frames, pid };
    },
    get relaunches() {
      return pool.relaunches;
    },
    env,
    [Symbol.asyncDispose]: dispose,
  };
}

function chosen(choice: Parameters<MiniwobSuite['env']>[0]): readonly MiniwobTask[] {
  if (choice === 'all') return MINIWOB_TASKS;
  if (typeof choice === 'string') return MINIWOB_TASKS.filter(({ split }) => split === choice);
  const tasks = choice.map(miniwobTask);
  if (tasks.length === 0) throw new RangeError('an environment of MiniWoB++ needs at least one task');
  return tasks;
}
