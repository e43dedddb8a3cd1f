// `CDP_ENDPOINT` from end to end: the real playwright-core in a cell, over the loopback of the cell's jail, the host's
// policy and a real Chromium. What must not be possible by it: tests/escape/endpoint.test.ts.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLocalSession, type ReplSession } from '../../src/repl/index.ts';
import { probe } from '../sandbox/jail.ts';

const { signal: NEVER } = new AbortController();
const PAGE = `<title>shop</title><input id=name><button onclick="document.title = 'bought ' + document.querySelector('#name').value">Buy</button>
<a href="/receipt">Receipt</a> <input type=file id=file> <button id=ask onclick="document.title = confirm('sure?')">Ask</button>
<button id=more onclick="window.open('/')">More</button> <iframe srcdoc="<p id=inside>inside</p>"></iframe>`;

const PLACES = [
  ...(probe.available ? [{ place: 'in the jail', jail: probe }] : []),
  { place: 'without a jail', jail: 'unsafe-local' as const },
];

let server: Server;
let site: string;
beforeAll(async () => {
  server = createServer(({ url }, response) => {
    if (url === '/receipt') response.setHeader('Content-Disposition', 'attachment; filename=receipt.txt').end('paid');
    else response.setHeader('Content-Type', 'text/html').end(PAGE);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => void server.close());

describe.each(PLACES)('CDP_ENDPOINT $place', { timeout: 300_000 }, ({ jail }) => {
  let session: ReplSession;
  beforeAll(async () => {
    const egress = [{ host: '127.0.0.1', port: Number(new URL(site).port) }];
    session = await openLocalSession({ jail, egress }, NEVER);
  }, 180_000);
  afterAll(() => session?.[Symbol.asyncDispose]());

  const shown = async (code: string, reset = false): Promise<string> => {
    const { error, content = [] } = await session.execute({ code, timeoutMs: 120_000, reset });
    return error ?? content.map((item) => (item.type === 'text' ? item.text : '')).join('');
  };

  test('playwright-core connects, opens a tab, goes, fills, clicks, reads, closes, and connects again', async () => {
    const connected = await shown(`
      var { chromium } = await import('playwright-core');
      var pwBrowser = await chromium.connectOverCDP(process.env.CDP_ENDPOINT);
      var [context] = pwBrowser.contexts();
      repl.write(pwBrowser.contexts().length + ' ' + context.pages().length);`);
    expect(connected).toBe('1 1');
    const bought = await shown(`
      var page = await context.newPage();
      await page.goto('${site}');
      await page.fill('#name', 'tea');
      await page.getByRole('button', { name: 'Buy' }).click();
      repl.write(await page.evaluate(() => document.title));`);
    expect(bought).toBe('bought tea');
    // The host's picture is of the page that was acted on.
    expect((await session.screenshot({ signal: NEVER, deadlineMs: 60_000 }))!.subarray(1, 4).toString()).toBe('PNG');

    const again = await shown(`
      await page.close();
      await pwBrowser.close();
      repl.write(pwBrowser.isConnected() + ' ');
      pwBrowser = await chromium.connectOverCDP(process.env.CDP_ENDPOINT);
      var other = await pwBrowser.newContext();
      page = await other.newPage();
      await page.goto('${site}');
      repl.write(await page.title());
      await other.close();`);
    expect(again).toBe('false shop');
  });

  test('what it does is in the log, with addresses, text and points', () => {
    const done = session.log!.entries.filter(({ helper }) => helper === 'CDP_ENDPOINT');
    const of = (command: string) => done.filter(({ subject }) => subject.command === command);
    expect(of('Page.navigate')[0]).toMatchObject({ effect: 'acts', subject: { url: site }, urlAfter: site });
    expect(of('Input.insertText')[0]).toMatchObject({ subject: { text: 'tea' }, urlBefore: site });
    const points = of('Input.dispatchMouseEvent').filter(({ subject }) => subject.point !== undefined);
    expect(points).toHaveLength(2);
    expect(done.every(({ result }) => result === 'done')).toBe(true);
    expect(of('Page.enable').every(({ effect }) => effect === 'looks')).toBe(true);
  });

  test('dialogs, windows, frames, files both ways, pictures, routes, cookies, bindings, sessions of a page, traces', async () => {
    const got = await shown(`
      var fs = await import('node:fs');
      var folder = (await import('node:os')).tmpdir();
      page = await pwBrowser.contexts()[0].newPage();
      page.setDefaultTimeout(30000);
      await page.goto('${site}');
      var got = {};
      page.once('dialog', (dialog) => dialog.accept());
      await page.click('#ask');
      got.dialog = await page.title();
      var [opened] = await Promise.all([page.waitForEvent('popup'), page.click('#more')]);
      await opened.waitForLoadState();
      got.popup = await opened.title();
      await opened.close();
      got.frame = await page.frameLocator('iframe').locator('#inside').textContent();
      var chosen = () => page.evaluate(() => document.querySelector('#file').files[0].text());
      await page.setInputFiles('#file', { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('bytes') });
      got.bytes = await chosen();
      fs.writeFileSync(folder + '/own.txt', 'own');
      await page.setInputFiles('#file', folder + '/own.txt');
      got.path = await chosen();
      var [download] = await Promise.all([page.waitForEvent('download'), page.click('a')]);
      await download.saveAs(folder + '/saved.txt');
      got.download = fs.readFileSync(folder + '/saved.txt', 'utf8');
      got.picture = (await page.screenshot()).subarray(1, 4).toString();
      await page.route('**/routed', (route) => route.fulfill({ body: 'mine', contentType: 'text/plain' }));
      got.route = await page.evaluate(() => fetch('/routed').then((answer) => answer.text()));
      await page.context().addCookies([{ name: 'a', value: 'b', url: '${site}' }]);
      got.cookies = (await page.context().cookies()).length;
      await page.exposeFunction('twice', (value) => 2 * value);
      got.binding = await page.evaluate(() => twice(21));
      var direct = await page.context().newCDPSession(page);
      got.session = (await direct.send('Runtime.evaluate', { expression: '6 * 7' })).result.value;
      await direct.detach();
      await page.context().tracing.start({ snapshots: true });
      await page.reload();
      await page.context().tracing.stop({ path: folder + '/trace.zip' });
      got.trace = fs.readFileSync(folder + '/trace.zip').subarray(0, 2).toString();
      await page.close();
      repl.write(JSON.stringify(got));`);
    expect(JSON.parse(got)).toEqual({
      ...{ dialog: 'true', popup: 'shop', frame: 'inside', bytes: 'bytes', path: 'own', download: 'paid' },
      ...{ picture: 'PNG', route: 'mine', cookies: 1, binding: 42, session: 42, trace: 'PK' },
    });
  });

  test('helpers beside it act on their own page and see nothing of its events', async () => {
    const seen = await shown(`
      await gotoUrl('${site}?helper');
      await waitForLoad();
      async function beside() {
        const client = await chromium.connectOverCDP(process.env.CDP_ENDPOINT);
        const at = client.contexts()[0].pages().map((one) => one.url());
        await drainEvents();
        const extra = await client.contexts()[0].newPage();
        await extra.goto('${site}?client');
        const told = (await drainEvents()).filter(({ params }) => JSON.stringify(params).includes('?client'));
        await client.close();
        return [at.includes('${site}?helper'), told.length, (await pageInfo()).url];
      }
      repl.write(JSON.stringify(await beside()));`);
    expect(JSON.parse(seen)).toEqual([true, 0, `${site}?helper`]);
  });

  test('a request without its path, or from a page, is refused', async () => {
    const answers = await shown(`
      var http = await import('node:http');
      var upgrade = (url, headers) => new Promise((resolve, reject) => {
        http.get(url.replace('ws:', 'http:'), { headers: {
          Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
          'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==', ...headers,
        } }).on('response', (answer) => resolve(answer.statusCode)).on('error', reject)
          .on('upgrade', (answer, socket) => { socket.destroy(); resolve(answer.statusCode); });
      });
      var at = process.env.CDP_ENDPOINT;
      repl.write([
        await upgrade(at, {}), await upgrade(at.slice(0, -1) + (at.endsWith('0') ? '1' : '0'), {}),
        await upgrade(new URL('/devtools/browser', at).href, {}), await upgrade(at, { Origin: '${site}' }),
        await upgrade(at, { Origin: 'null' }),
      ].join());`);
    expect(answers).toBe('101,404,404,403,403');
  });

  test('it ends with its runtime: the next one has another, and no tab stays held', async () => {
    const address = await shown(`
      var left = await chromium.connectOverCDP(process.env.CDP_ENDPOINT);
      repl.write(process.env.CDP_ENDPOINT);`);
    const next = await shown(`repl.write(process.env.CDP_ENDPOINT)`, true);
    expect(next).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/devtools\/browser\/[0-9a-f]{64}$/);
    expect(next).not.toBe(address);
    // A client that attaches to every new tab holds it until it says go on; this one is gone.
    expect(
      await shown(`await newTab('${site}?free'); await waitForLoad(); repl.write(await js('location.search'))`),
    ).toBe('?free');
  });
});

test('the profile train has no CDP_ENDPOINT', { timeout: 120_000 }, async () => {
  const jail = probe.available ? probe : 'unsafe-local';
  await using session = await openLocalSession({ jail, egress: [], cell: { profile: 'train' } }, NEVER);
  const { content } = await session.execute({
    code: `repl.write(String(process.env?.CDP_ENDPOINT)); await import('playwright-core').catch((error) => repl.write(' ' + error.message))`,
    timeoutMs: 60_000,
  });
  expect(content).toMatchObject([
    { text: 'undefined' },
    { text: expect.stringMatching(/^ import of 'playwright-core' is not allowed here/) as string },
  ]);
});
