// What counts as a browser that cannot be cleaned: one that keeps something, and not one that is slow.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser, locateChromium, type Browser } from '../browser/index.ts';
import { cleanBrowser } from './clean-browser.ts';

const { signal } = new AbortController();
let browser: Browser;
const send = (method: string, params: object, sessionId?: string): Promise<unknown> =>
  browser.cdp.request(method, params, sessionId);
const pages = async (): Promise<number> => {
  const { targetInfos } = (await send('Target.getTargets', {})) as {
    readonly targetInfos: readonly { readonly type: string }[];
  };
  return targetInfos.filter(({ type }) => type === 'page').length;
};

beforeAll(async () => {
  const location = await locateChromium({ prefer: 'headless-shell', signal });
  browser = await launchBrowser({ location, mode: 'ordinary', signal });
}, 120_000);
afterAll(() => browser?.[Symbol.asyncDispose](), 60_000);

it(
  'tabs that close after the time for it are waited for while looks at them are few',
  { timeout: 60_000 },
  async () => {
    for (let i = 0; i < 3; i++) await send('Target.createTarget', { url: 'data:text/html,<h1>open</h1>' });
    await cleanBrowser({ send, closeMs: 0, signal });
    expect(await pages()).toBe(1);
  },
);

it('a tab that stays is told of, with what was waited for', { timeout: 60_000 }, async () => {
  await send('Target.createTarget', { url: 'data:text/html,<h1>open</h1>' });
  const stays = (method: string, params: object, sessionId?: string): Promise<unknown> =>
    method === 'Target.closeTarget' ? Promise.resolve({}) : send(method, params, sessionId);
  await expect(cleanBrowser({ send: stays, closeMs: 200, signal })).rejects.toMatchObject({
    code: 'not-clean',
    details: { looks: 100, types: ['page', 'page'] },
  });
});
