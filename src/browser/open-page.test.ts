import { expect, test } from 'vitest';
import type { Browser } from './browser.ts';
import { navigationTimeout } from './failures.ts';
import { openPage } from './open-page.ts';
import type { Page } from './page.ts';

const { signal } = new AbortController();

function fakes(navigate: () => Promise<void>) {
  let closed = 0;
  const page = { navigate, [Symbol.asyncDispose]: async () => void closed++ } as unknown as Page;
  const browser = { newPage: async () => page } as unknown as Browser;
  const open = () => openPage(browser, { url: 'http://127.0.0.1/', viewport: { width: 1, height: 1 }, signal });
  return { open, page, closed: () => closed };
}

test('a page that does not load is closed, and its own failure is told', async () => {
  const failure = navigationTimeout('http://127.0.0.1/', 1);
  const { open, closed } = fakes(() => Promise.reject(failure));
  await expect(open()).rejects.toBe(failure);
  expect(closed()).toBe(1);
});

test('a page that loads is handed over open', async () => {
  const { open, page, closed } = fakes(() => Promise.resolve());
  expect(await open()).toBe(page);
  expect(closed()).toBe(0);
});
