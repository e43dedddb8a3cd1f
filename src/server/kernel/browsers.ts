// The browsers that somebody has, by id and by name: how long they may stand idle, what they are doing, how they end.

import type { ReplSession } from '../repl-session.ts';
import { failure } from './failures.ts';
import { createKeyedCalls, type KeyedCalls } from './keyed-calls.ts';
import { DEFAULT_IDLE_SECONDS, type BrowserSettings } from './schemas.ts';

export type Browser = {
  readonly id: string;
  readonly name: string | undefined;
  readonly createdAt: Date;
  readonly settings: BrowserSettings;
  readonly tags: Readonly<Record<string, string>> | undefined;
  readonly pool: { readonly id: string; readonly name?: string } | undefined;
  readonly session: ReplSession;
  readonly keyedCalls: KeyedCalls;
  /** Gives the session back where it came from, or ends it. */
  readonly giveBack: (options: { readonly reuse: boolean }) => Promise<void>;
};

export type NewBrowser = Omit<Browser, 'keyedCalls'>;

export interface Browsers extends AsyncDisposable {
  readonly list: readonly Browser[];
  /** Throws where the name is taken. */
  checkName(name: string | undefined): void;
  add(browser: NewBrowser): Browser;
  /** Throws where there is none. */
  get(idOrName: string): Browser;
  /** Somebody asks after it, so it is somebody's: the idle time begins anew. */
  touch(browser: Browser): void;
  /** The idle time begins anew when `work` is done. */
  use<T>(browser: Browser, work: () => Promise<T>): Promise<T>;
  remove(browser: Browser, options: { readonly reuse: boolean }): Promise<void>;
}

export type BrowsersOptions = {
  /** Told when an idle browser did not end. */
  readonly onFailure: (error: unknown) => void;
};

/** Requests of one browser at a time; cells run one after the other. */
const MAX_IN_FLIGHT = 64;

type Entry = { readonly browser: Browser; inUse: number; timer: NodeJS.Timeout | undefined };

export function createBrowsers({ onFailure }: BrowsersOptions): Browsers {
  const entries = new Map<string, Entry>();

  const find = (idOrName: string): Entry | undefined =>
    entries.get(idOrName) ?? [...entries.values()].find(({ browser }) => browser.name === idOrName);
  const remove = async ({ id, keyedCalls, giveBack }: Browser, options: { reuse: boolean }): Promise<void> => {
    const entry = entries.get(id);
    if (entry === undefined) return; // ended by somebody else in the meantime
    entries.delete(id);
    clearTimeout(entry.timer);
    keyedCalls[Symbol.dispose]();
    await giveBack(options);
  };
  const rest = (entry: Entry): void => {
    const seconds = entry.browser.settings.timeout_seconds ?? DEFAULT_IDLE_SECONDS;
    entry.timer = setTimeout(() => {
      remove(entry.browser, { reuse: false }).catch(onFailure);
    }, seconds * 1000).unref();
  };

  return {
    get list() {
      return [...entries.values()].map(({ browser }) => browser);
    },
    checkName(name) {
      if (name !== undefined && find(name) !== undefined) {
        throw failure('conflict', `There is a browser named ${JSON.stringify(name)} already.`);
      }
    },
    add(made) {
      const browser = { ...made, keyedCalls: createKeyedCalls() };
      const entry = { browser, inUse: 0, timer: undefined };
      entries.set(browser.id, entry);
      rest(entry);
      return browser;
    },
    get(idOrName) {
      const entry = find(idOrName);
      if (entry === undefined) {
        throw failure('not-found', `There is no browser ${JSON.stringify(idOrName)}; it may have been idle too long.`);
      }
      return entry.browser;
    },
    touch({ id }) {
      const entry = entries.get(id);
      if (entry === undefined || entry.inUse > 0) return;
      clearTimeout(entry.timer);
      rest(entry);
    },
    async use(browser, work) {
      const entry = entries.get(browser.id);
      if (entry === undefined) throw failure('not-found', `The browser ${browser.id} has ended.`);
      if (entry.inUse >= MAX_IN_FLIGHT) {
        throw failure('limit-reached', `${entry.inUse} requests for the browser ${browser.id} are waiting already.`);
      }
      clearTimeout(entry.timer);
      entry.inUse++;
      try {
        return await work();
      } finally {
        if (--entry.inUse === 0 && entries.has(browser.id)) rest(entry);
      }
    },
    remove,
    async [Symbol.asyncDispose]() {
      const ended = await Promise.allSettled(
        [...entries.values()].map(({ browser }) => remove(browser, { reuse: false })),
      );
      for (const one of ended) if (one.status === 'rejected') onFailure(one.reason);
    },
  };
}
