import { expect, test } from 'vitest';
import type { Browser } from './browser.ts';
import { createPagePool } from './page-pool.ts';
import type { Page } from './page.ts';

const { signal } = new AbortController();

function fakes(options: { failingStarts?: number } = {}) {
  const browsers: { closed: boolean }[] = [];
  const pages: { usable: boolean; ended: boolean }[] = [];
  let failing = options.failingStarts ?? 0;
  const pool = createPagePool({
    pages: 2,
    maxRelaunches: 2,
    launch: () => {
      if (failing-- > 0) return Promise.reject(new Error('no start'));
      const browser = {
        closed: false,
        stderr: 'last words',
        [Symbol.asyncDispose]: async () => void (browser.closed = true),
      };
      browsers.push(browser);
      return Promise.resolve(browser as unknown as Browser);
    },
    openPage: (owner) => {
      let broken = false;
      const page = {
        get usable() {
          return !broken && !owner.closed;
        },
        set usable(value: boolean) {
          broken = !value;
        },
        ended: false,
        [Symbol.asyncDispose]: async () => void (page.ended = true),
      };
      pages.push(page);
      return Promise.resolve(page as unknown as Page);
    },
  });
  return { pool, browsers, pages };
}

test('a page that is given back usable is used again', async () => {
  const { pool, pages } = fakes();
  for (let i = 0; i < 5; i++) await (await pool.acquire(signal))[Symbol.asyncDispose]();
  expect(pages).toHaveLength(1);
});

test('a broken page is ended and replaced', async () => {
  const { pool, pages } = fakes();
  const lease = await pool.acquire(signal);
  pages[0].usable = false;
  await lease[Symbol.asyncDispose]();
  await pool.acquire(signal);
  expect(pages.map((page) => page.ended)).toEqual([true, false]);
});

test('no more pages than allowed, and giving back twice gives back once', async () => {
  const { pool } = fakes();
  const [first] = [await pool.acquire(signal), await pool.acquire(signal)];
  const third = pool.acquire(signal);
  const fourth = pool.acquire(signal);
  let fourthServed = false;
  void fourth.then(() => (fourthServed = true));
  await first[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await third;
  await new Promise((resolve) => setImmediate(resolve));
  expect(fourthServed).toBe(false);
});

test('a dead browser is started again once for all who wait, and this is counted', async () => {
  const { pool, browsers } = fakes();
  await (await pool.acquire(signal))[Symbol.asyncDispose]();
  browsers[0].closed = true;
  await Promise.all([pool.acquire(signal), pool.acquire(signal)]);
  expect([browsers.length, pool.relaunches]).toEqual([2, 1]);
});

test('a browser that keeps dying is given up with its last words', async () => {
  const { pool, browsers } = fakes();
  for (let i = 0; i < 3; i++) {
    await (await pool.acquire(signal))[Symbol.asyncDispose]();
    browsers.at(-1)!.closed = true;
  }
  const failure = pool.acquire(signal);
  await expect(failure).rejects.toMatchObject({
    code: 'browser-relaunch-limit',
    retryable: false,
    details: { stderr: 'last words' },
  });
});

test('whoever waits for a start may give up at once; ending the pool gives the start itself up', async () => {
  let given: AbortSignal | undefined;
  const pool = createPagePool({
    pages: 1,
    launch: (stop) => {
      given = stop;
      return new Promise((_, reject) => stop.addEventListener('abort', () => reject(new Error('given up'))));
    },
    openPage: () => Promise.reject(new Error('not reached')),
  });
  const waiter = new AbortController();
  const waiting = pool.browser(waiter.signal);
  waiter.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  expect(given?.aborted).toBe(false);
  await pool[Symbol.asyncDispose]();
  expect(given?.aborted).toBe(true);
});

test('a failed start gives its permit back and is tried again', async () => {
  const { pool } = fakes({ failingStarts: 1 });
  await expect(pool.acquire(signal)).rejects.toThrow('no start');
  await Promise.all([pool.acquire(signal), pool.acquire(signal)]);
  expect(pool.relaunches).toBe(1);
});
