// How long a browser may stand idle.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fakeBrowsers } from '../fixtures/fake-session.ts';
import { createBrowsers, type Browser, type Browsers } from './browsers.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function browserIn(browsers: Browsers, seconds: number): Promise<{ browser: Browser; ended: boolean[] }> {
  const session = await fakeBrowsers().open({ signal: new AbortController().signal });
  const ended: boolean[] = [];
  const browser = browsers.add({
    id: 'b1',
    createdAt: new Date(0),
    name: 'one',
    settings: { timeout_seconds: seconds },
    tags: undefined,
    pool: undefined,
    session,
    giveBack: async ({ reuse }) => void ended.push(reuse),
  });
  return { browser, ended };
}

test('a browser that nobody asks anything is ended, and not given to others', async () => {
  await using browsers = createBrowsers({ onFailure: () => undefined });
  const { ended } = await browserIn(browsers, 10);
  await vi.advanceTimersByTimeAsync(9_999);
  expect([browsers.get('one').name, ended]).toEqual(['one', []]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual([false]);
  expect(() => browsers.get('one')).toThrow('no browser "one"');
});

test('a request in flight is no idleness, and the time begins anew after it', async () => {
  await using browsers = createBrowsers({ onFailure: () => undefined });
  const { browser, ended } = await browserIn(browsers, 10);
  const working = browsers.use(browser, () => new Promise<void>((resolve) => setTimeout(resolve, 60_000)));
  await vi.advanceTimersByTimeAsync(60_000);
  await working;
  await vi.advanceTimersByTimeAsync(9_999);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual([false]);
});

test('whoever asks after a browser keeps it, and does not end a request’s hold on it', async () => {
  await using browsers = createBrowsers({ onFailure: () => undefined });
  const { browser, ended } = await browserIn(browsers, 10);
  for (let beat = 0; beat < 5; beat++) {
    await vi.advanceTimersByTimeAsync(9_000);
    browsers.touch(browser);
  }
  const working = browsers.use(browser, () => new Promise<void>((resolve) => setTimeout(resolve, 60_000)));
  browsers.touch(browser);
  await vi.advanceTimersByTimeAsync(60_000);
  await working;
  await vi.advanceTimersByTimeAsync(9_999);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual([false]);
});

test('one browser takes 64 requests at a time', async () => {
  await using browsers = createBrowsers({ onFailure: () => undefined });
  const { browser } = await browserIn(browsers, 10);
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));
  const running = Array.from({ length: 64 }, () => browsers.use(browser, () => held));
  await expect(browsers.use(browser, () => held)).rejects.toMatchObject({ code: 'limit-reached' });
  finish();
  await Promise.all(running);
  await browsers.use(browser, () => held);
});
