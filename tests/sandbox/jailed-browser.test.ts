// Chromium in the jail, in every way this machine can drive one: it works, and its only way out is the proxy.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundledChromiumFolder, unpackBundledChromium } from '../../src/browser/bundled.ts';
import { launchJailedBrowser } from '../../src/repl/jailed-browser.ts';
import { createEgressProxy, type EgressEvent } from '../../src/sandbox/index.ts';
import { browsersUnderTest, NEVER } from '../browser/browsers-under-test.ts';
import { descendants, noJail, probe, whyNot } from './jail.ts';

const browsers = await browsersUnderTest();
const VIEWPORT = { width: 332, height: 214 };

let site: Server;
let port: number;
beforeAll(async () => {
  site = createServer((incoming, response) => {
    if (incoming.url === '/away') response.writeHead(302, { Location: `http://localhost:${port}/` }).end();
    else response.setHeader('Content-Type', 'text/html').end('<title>here</title><button>Press</button>');
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  port = (site.address() as AddressInfo).port;
});
afterAll(() => void site.close());

describe.skipIf(noJail)(`Chromium in the jail${whyNot}`, () => {
  test.each(browsers)('loads, reads, clicks and photographs a listed page ($name)', async ({ launch }) => {
    await using egress = await createEgressProxy({ rules: [{ host: '127.0.0.1', port }] });
    await using browser = await launchJailedBrowser({ probe, egress, ...launch });
    const page = await browser.newPage({ viewport: VIEWPORT });
    await page.navigate(`http://127.0.0.1:${port}/`, { signal: NEVER });
    const button = (await page.accessibilityTree({ signal: NEVER })).find((node) => node.role?.value === 'button')!;
    await page.evaluate(`document.querySelector('button').onclick = () => (document.title = 'pressed')`, {
      signal: NEVER,
    });
    expect(await page.click(button.backendDOMNodeId!, { signal: NEVER })).toBe('clicked');
    expect(await page.evaluate('document.title', { signal: NEVER })).toBe('pressed');
    const picture = await page.screenshot({ signal: NEVER });
    expect(Buffer.from(picture).subarray(1, 4).toString()).toBe('PNG');
  });

  test('is refused an unlisted host, also by a redirect, and the proxy tells of it', async () => {
    const events: EgressEvent[] = [];
    await using egress = await createEgressProxy({
      rules: [{ host: '127.0.0.1', port }],
      onRequest: (event) => events.push(event),
    });
    await using browser = await launchJailedBrowser({ probe, egress, ...browsers[0].launch });
    const page = await browser.newPage({ viewport: VIEWPORT });
    for (const url of [`http://localhost:${port}/`, `http://127.0.0.1:${port}/away`]) {
      await page.navigate(url, { signal: NEVER });
      expect(await page.evaluate('document.body.innerText', { signal: NEVER })).toContain('refused this request');
    }
    const refused = { host: 'localhost', port, reason: 'it is not on the list of allowed hosts' };
    expect(events).toEqual([refused, { host: '127.0.0.1', port, address: '127.0.0.1' }, refused]);
  });

  test('has no network at all without a way out', async () => {
    await using browser = await launchJailedBrowser({ probe, ...browsers[0].launch });
    const page = await browser.newPage({ viewport: VIEWPORT });
    await expect(page.navigate(`http://127.0.0.1:${port}/`, { signal: NEVER })).rejects.toThrow('ERR_PROXY');
  });

  test('keeps its own sandbox where namespaces can be nested', async () => {
    await using browser = await launchJailedBrowser({ probe, ...browsers[0].launch });
    const renderers = (await descendants(browser.pid)).filter(({ command }) => command.includes('--type=renderer'));
    expect(renderers.length).toBeGreaterThan(0);
    const without = renderers.filter(({ command }) => command.includes('--no-sandbox'));
    expect(without).toHaveLength(probe.nestedSandbox ? 0 : renderers.length);
  });
});

const bundled = bundledChromiumFolder(process.platform);

test.skipIf(noJail || bundled === undefined)(
  `the browser of the npm package runs in the jail too${whyNot}`,
  { timeout: 120_000 },
  async () => {
    const location = await unpackBundledChromium(bundled!);
    await using egress = await createEgressProxy({ rules: [{ host: '127.0.0.1', port }] });
    await using browser = await launchJailedBrowser({ probe, egress, location });
    const page = await browser.newPage({ viewport: VIEWPORT });
    await page.navigate(`http://127.0.0.1:${port}/`, { signal: NEVER });
    expect(await page.evaluate('document.title', { signal: NEVER })).toBe('here');
    await page.navigate(`http://localhost:${port}/`, { signal: NEVER });
    expect(await page.evaluate('document.body.innerText', { signal: NEVER })).toContain('refused this request');
  },
);

test('no browser where the jail does not hold', async () => {
  const broken = { ...probe, available: false, reason: 'a test', remedy: 'none' };
  await expect(launchJailedBrowser({ probe: broken, ...browsers[0].launch })).rejects.toMatchObject({
    code: 'jail-unavailable',
  });
});
