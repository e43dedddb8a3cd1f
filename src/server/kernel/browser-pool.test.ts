// The pool's rules, over sessions without a browser.

import { expect, test } from 'vitest';
import { fakeBrowsers, type FakeBrowsers } from '../fixtures/fake-session.ts';
import { createBrowserPool, type BrowserPool } from './browser-pool.ts';
import type { PoolSettings } from './schemas.ts';

const { signal } = new AbortController();
const soon = { waitMs: 1_000, signal };

function poolOf(browsers: FakeBrowsers, settings: Partial<PoolSettings> = {}, failures: unknown[] = []): BrowserPool {
  return createBrowserPool({
    settings: { size: 2, ...settings },
    openSession: browsers.open,
    onFailure: (error) => failures.push(error),
  });
}

test('it fills to its size, lends, and does not grow while browsers are out', async () => {
  const browsers = fakeBrowsers();
  await using pool = poolOf(browsers);
  const [first, second] = [await pool.acquire(soon), await pool.acquire(soon)];
  expect(first!.session).not.toBe(second!.session);
  expect([pool.acquired, pool.available, browsers.sessions.length]).toEqual([2, 0, 2]);
  expect(await pool.acquire({ waitMs: 1, signal })).toBeUndefined();
});

test('what is given back for use again is the same browser; otherwise it is ended and another takes its place', async () => {
  const browsers = fakeBrowsers();
  await using pool = poolOf(browsers, { size: 1 });
  const first = (await pool.acquire(soon))!;
  await pool.release(first, { reuse: true });
  expect((await pool.acquire(soon))!.session).toBe(first.session);
  await pool.release(first, { reuse: false });
  expect(browsers.sessions[0].disposed).toBe(true);
  expect((await pool.acquire(soon))!.session).toBe(browsers.sessions[1]);
});

test('whoever waits gets the browser that is given back', async () => {
  await using pool = poolOf(fakeBrowsers(), { size: 1 });
  const first = (await pool.acquire(soon))!;
  const waiting = pool.acquire(soon);
  await pool.release(first, { reuse: true });
  expect((await waiting)!.session).toBe(first.session);
  expect([pool.acquired, pool.available]).toEqual([1, 0]);
});

test('a caller who gives up leaves the line', async () => {
  await using pool = poolOf(fakeBrowsers(), { size: 1 });
  const first = (await pool.acquire(soon))!;
  const leaving = new AbortController();
  const waiting = pool.acquire({ waitMs: 1_000, signal: leaving.signal });
  leaving.abort();
  await expect(waiting).rejects.toThrow('aborted');
  await pool.release(first, { reuse: true });
  expect([pool.acquired, pool.available]).toEqual([0, 1]);
});

test('a browser that crashed is neither lent nor taken back', async () => {
  const browsers = fakeBrowsers();
  await using pool = poolOf(browsers, { size: 1 });
  const first = (await pool.acquire(soon))!;
  await pool.release(first, { reuse: true });
  browsers.sessions[0].crash();
  const second = (await pool.acquire(soon))!;
  browsers.sessions[1].crash();
  await pool.release(second, { reuse: true });
  expect((await pool.acquire(soon))!.session).toBe(browsers.sessions[2]);
  expect(browsers.sessions.map(({ disposed }) => disposed)).toEqual([true, true, false]);
});

test('flushing ends idle browsers and leaves the others', async () => {
  const browsers = fakeBrowsers();
  await using pool = poolOf(browsers);
  const used = (await pool.acquire(soon))!;
  const other = (await pool.acquire(soon))!;
  await pool.release(other, { reuse: true });
  await pool.flush();
  expect(browsers.sessions.filter(({ disposed }) => disposed)).toEqual([other.session]);
  expect((used.session as unknown as { disposed: boolean }).disposed).toBe(false);
});

test('new settings are for new browsers; those in use keep theirs', async () => {
  const browsers = fakeBrowsers();
  await using pool = poolOf(browsers, { size: 1, viewport: { width: 800, height: 600 } });
  const old = (await pool.acquire(soon))!;
  await pool.update({ size: 1, viewport: { width: 400, height: 300 } });
  await pool.release(old, { reuse: true });
  expect((await pool.acquire(soon))!.settings.viewport).toEqual({ width: 800, height: 600 });
  await pool.release(old, { reuse: false });
  expect((await pool.acquire(soon))!.settings.viewport).toEqual({ width: 400, height: 300 });
  expect(browsers.sessions[1].options.viewport).toEqual({ width: 400, height: 300 });
});

test('a smaller size ends idle browsers at once', async () => {
  const browsers = fakeBrowsers();
  await using pool = poolOf(browsers, { size: 3 });
  const all = [await pool.acquire(soon), await pool.acquire(soon), await pool.acquire(soon)];
  for (const one of all) await pool.release(one!, { reuse: true });
  await pool.update({ size: 1 });
  expect(browsers.sessions.filter(({ disposed }) => disposed)).toHaveLength(2);
});

test('whoever asks is told why there is no browser, and the next one tries again', async () => {
  const browsers = fakeBrowsers();
  browsers.failWith = new Error('no display');
  await using pool = poolOf(browsers, { size: 1 });
  await expect(pool.acquire(soon)).rejects.toThrow('no display');
  browsers.failWith = undefined;
  expect((await pool.acquire(soon))!.session).toBe(browsers.sessions[0]);
});

test('a failure that nobody waits for is told to the server', async () => {
  const browsers = fakeBrowsers();
  browsers.failWith = new Error('no display');
  const failures: unknown[] = [];
  await using _pool = poolOf(browsers, { size: 1 }, failures);
  await new Promise((resolve) => setImmediate(resolve));
  expect(failures).toEqual([browsers.failWith]);
});

test('disposing it ends every browser, lent ones included, and sends those who wait away', async () => {
  const browsers = fakeBrowsers();
  const pool = poolOf(browsers, { size: 1 });
  await pool.acquire(soon);
  const waiting = pool.acquire(soon);
  const refused = expect(waiting).rejects.toThrow('deleted');
  await pool[Symbol.asyncDispose]();
  await refused;
  expect(browsers.sessions.map(({ disposed }) => disposed)).toEqual([true]);
});

test('a browser begins at the address that was asked for', async () => {
  const browsers = fakeBrowsers();
  await using pool = poolOf(browsers, { size: 1, start_url: 'https://example.com/' });
  await pool.acquire(soon);
  expect(browsers.sessions[0].addresses).toEqual(['https://example.com/']);
});
