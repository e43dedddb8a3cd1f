// Pools and browsers behind the routes: what may be made, under which names, and that everything made here ends here.
// It knows no HTTP.

import { createSemaphore } from '../../util/index.ts';
import type { OpenSession } from '../repl-session.ts';
import { createBrowserPool, type BrowserPool } from './browser-pool.ts';
import { createBrowsers, type Browser, type Browsers, type NewBrowser } from './browsers.ts';
import { createId } from './create-id.ts';
import { failure } from './failures.ts';
import { openBrowser, tryToOpen } from './open-browser.ts';
import type { acquireBody, createBrowserBody, PoolSettings, updatePoolBody } from './schemas.ts';
import type { z } from 'zod';

export type NamedPool = { readonly id: string; readonly createdAt: Date; readonly pool: BrowserPool };

export interface KernelService extends AsyncDisposable {
  /** Fires when everything is about to end. */
  readonly ending: AbortSignal;
  readonly browsers: Browsers;
  readonly pools: readonly NamedPool[];
  createBrowser(body: z.infer<typeof createBrowserBody>, signal: AbortSignal): Promise<Browser>;
  createPool(settings: PoolSettings): NamedPool;
  /** Throws where there is none. */
  getPool(idOrName: string): NamedPool;
  updatePool(named: NamedPool, body: z.infer<typeof updatePoolBody>): Promise<void>;
  deletePool(named: NamedPool, options: { readonly force: boolean }): Promise<void>;
  /** Undefined when there was none in time. */
  acquire(named: NamedPool, body: z.infer<typeof acquireBody>, signal: AbortSignal): Promise<Browser | undefined>;
}

export type KernelServiceOptions = {
  readonly openSession: OpenSession;
  /** Over all pools and beside them. */
  readonly maxBrowsers: number;
  readonly onFailure: (error: unknown) => void;
};

/** Browsers that start at one time; each takes a processor while it does. */
const BOOTS = 2;

export function createKernelService({ maxBrowsers, onFailure, ...options }: KernelServiceOptions): KernelService {
  const ending = new AbortController();
  const boots = createSemaphore(BOOTS);
  const openSession: OpenSession = (wanted) => boots.run(() => options.openSession(wanted), wanted.signal);
  const browsers = createBrowsers({ onFailure });
  const pools = new Map<string, NamedPool>();
  let opening = 0;

  const room = (): number => {
    const pooled = [...pools.values()].reduce((sum, { pool }) => sum + pool.settings.size, 0);
    const alone = browsers.list.filter(({ pool }) => pool === undefined).length;
    return maxBrowsers - pooled - alone - opening;
  };
  const checkRoom = (wanted: number, freed = 0): void => {
    const left = room() + freed;
    if (wanted > left) {
      throw failure('limit-reached', `There is room for ${left} more browsers of ${maxBrowsers}, not for ${wanted}.`);
    }
  };
  const find = (idOrName: string): NamedPool | undefined =>
    pools.get(idOrName) ?? [...pools.values()].find(({ pool }) => pool.settings.name === idOrName);
  const checkPoolName = (name: string | undefined): void => {
    if (name !== undefined && find(name) !== undefined) {
      throw failure('conflict', `There is a pool named ${JSON.stringify(name)} already.`);
    }
  };
  /** In the meantime the caller may have gone, or another browser have taken the name: then nobody gets this one. */
  const add = async (made: NewBrowser, signal: AbortSignal): Promise<Browser> => {
    try {
      signal.throwIfAborted();
      browsers.checkName(made.name);
      return browsers.add(made);
    } catch (error) {
      await made.giveBack({ reuse: true });
      throw error;
    }
  };
  return {
    ending: ending.signal,
    browsers,
    get pools() {
      return [...pools.values()];
    },
    async createBrowser({ name, tags, ...settings }, signal) {
      browsers.checkName(name);
      checkRoom(1);
      opening++;
      try {
        const session = await openBrowser({ openSession, settings, signal });
        const giveBack = async (): Promise<void> => session[Symbol.asyncDispose]();
        const made = {
          id: createId(),
          createdAt: new Date(),
          name,
          tags,
          settings,
          session,
          pool: undefined,
          giveBack,
        };
        return await add(made, signal);
      } finally {
        opening--;
      }
    },
    createPool(settings) {
      checkPoolName(settings.name);
      checkRoom(settings.size);
      const pool = createBrowserPool({ settings, openSession, onFailure });
      const named = { id: createId(), createdAt: new Date(), pool };
      pools.set(named.id, named);
      return named;
    },
    getPool(idOrName) {
      const named = find(idOrName);
      if (named === undefined) throw failure('not-found', `There is no pool ${JSON.stringify(idOrName)}.`);
      return named;
    },
    async updatePool({ pool }, { discard_all_idle, ...changes }) {
      if (changes.name !== pool.settings.name) checkPoolName(changes.name);
      const settings = { ...pool.settings, ...changes };
      checkRoom(settings.size, pool.settings.size);
      await pool.update(settings);
      if (discard_all_idle) await pool.flush();
    },
    async deletePool({ id, pool }, { force }) {
      if (pool.acquired > 0 && !force) {
        const message = `${pool.acquired} browsers of the pool are in use; release them, or delete with force.`;
        throw failure('conflict', message);
      }
      pools.delete(id);
      const leased = browsers.list.filter((browser) => browser.pool?.id === id);
      // Both at once: a pool that is not yet ending would replace what is given back.
      await Promise.all([
        ...leased.map((browser) => browsers.remove(browser, { reuse: false })),
        pool[Symbol.asyncDispose](),
      ]);
    },
    async acquire({ id, pool }, { acquire_timeout_seconds, name, start_url, tags }, signal) {
      browsers.checkName(name);
      const pooled = await pool.acquire({ waitMs: acquire_timeout_seconds * 1000, signal });
      if (pooled === undefined) return undefined;
      if (start_url !== undefined) await tryToOpen(pooled.session, start_url, signal);
      const { name: poolName, ...settings } = pooled.settings;
      const made = {
        id: pooled.id,
        createdAt: pooled.createdAt,
        name,
        tags,
        settings: start_url === undefined ? settings : { ...settings, start_url },
        session: pooled.session,
        pool: poolName === undefined ? { id } : { id, name: poolName },
        giveBack: (options: { readonly reuse: boolean }) => pool.release(pooled, options),
      };
      return add(made, signal);
    },
    async [Symbol.asyncDispose]() {
      ending.abort(failure('shutting-down', 'The server is shutting down.'));
      await Promise.all([
        browsers[Symbol.asyncDispose](),
        ...[...pools.values()].map(({ pool }) => pool[Symbol.asyncDispose]()),
      ]);
      pools.clear();
    },
  };
}
