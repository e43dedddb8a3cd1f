import { expect, test } from 'vitest';
import type { CdpSession } from './cdp.ts';
import { createOrdinaryFrames } from './frames.ts';
import { createPage } from './page.ts';

test('calls that only read are given no frame, those that act are', async () => {
  const session = { id: 'a', on: () => () => undefined, send: async () => ({ value: 1 }) } as unknown as CdpSession;
  let given = 0;
  const ordinary = createOrdinaryFrames();
  const frames: typeof ordinary = { ...ordinary, during: (page, work) => (given++, ordinary.during(page, work)) };
  const page = createPage({ session, frames, connected: () => true, end: () => undefined });
  const at = { signal: new AbortController().signal };
  await page.read('look', (own) => own.send('DOM.getDocument'), at);
  expect(given).toBe(0);
  await page.perform('act', (own) => own.send('DOM.getDocument'), at);
  expect(given).toBe(1);
});

test('a reading that is cut short leaves the page unusable, as every operation does', async () => {
  const session = { id: 'a', on: () => () => undefined } as unknown as CdpSession;
  const parts = { session, frames: createOrdinaryFrames(), connected: () => true, end: () => undefined };
  const page = createPage(parts);
  const never = page.read('look', () => new Promise(() => undefined), {
    signal: new AbortController().signal,
    deadlineMs: 5,
  });
  await expect(never).rejects.toMatchObject({ code: 'operation-timeout', details: { operation: 'look' } });
  expect(page.usable).toBe(false);
});
