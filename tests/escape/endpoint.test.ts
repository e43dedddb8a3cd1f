// Escape attempts through `CDP_ENDPOINT`: a client of the cell's own making, which says whatever it likes to the browser
// and to the host. Zero may succeed. That the same commands do harm without policy and jail is shown by browser.test.ts.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openLocalSession, type ReplSession } from '../../src/repl/index.ts';
import { noJail, probe, whyNot } from '../sandbox/jail.ts';
import { createHost, type Host } from './targets.ts';

type Attempt = {
  readonly name: string;
  /** An expression of the cell; what it gives, as JSON, or its failure. */
  readonly code: string;
  /** How it has to end. */
  readonly ends: RegExp;
};

/** A client without any sense of what is proper. */
const CLIENT = `
  var { WebSocket } = await import('ws');
  var fs = await import('node:fs');
  var connect = () => new Promise((resolve, reject) => {
    const socket = new WebSocket(process.env.CDP_ENDPOINT, { perMessageDeflate: false });
    const waiting = new Map();
    const client = { socket, last: 0, events: [], closed: false, closing: new Promise((done) => socket.on('close', (code, why) => { client.closed = true; done('closed ' + code + ' ' + why); })) };
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString());
      if (message.id === undefined) { client.events.push(message); return; }
      waiting.get(message.id)?.(message);
    });
    client.raw = (message) => new Promise((done) => { waiting.set(message.id, done); socket.send(JSON.stringify(message)); client.closing.then(done); });
    client.send = async (method, params = {}, sessionId) => {
      const answer = await client.raw({ id: ++client.last, method, params, ...(sessionId === undefined ? {} : { sessionId }) });
      if (typeof answer === 'string') throw new Error(answer);
      if (answer.error) throw new Error(answer.error.message);
      return answer.result;
    };
    socket.on('open', () => resolve(client)).on('error', reject);
  });
  var one = await connect();
  var tab = async (url = 'about:blank') => {
    const { targetId } = await one.send('Target.createTarget', { url });
    const { sessionId } = await one.send('Target.attachToTarget', { targetId, flatten: true });
    return { targetId, sessionId };
  };
  var page = await tab();
  var valueOf = async (expression, session = page.sessionId) =>
    (await one.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }, session)).result.value;
`;

const REFUSED = /^CDP \S+ refused: /;
const NO_SESSION = /^Session with given id not found/;

const ATTEMPTS: readonly Attempt[] = [
  ...(
    [
      ['a context with another proxy', `'Target.createBrowserContext', { proxyServer: 'direct://' }`],
      [
        'a context that bypasses the proxy',
        `'Target.createBrowserContext', { proxyServer: 'http://127.0.0.1:9', proxyBypassList: '<-loopback>' }`,
      ],
      [
        'a context in which every origin may read all',
        `'Target.createBrowserContext', { originsWithUniversalNetworkAccess: ['*'] }`,
      ],
      [
        'downloads into a folder of the host',
        `'Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: t.home }`,
      ],
      [
        'downloads out of scratch by dots',
        `'Browser.setDownloadBehavior', { behavior: 'allowAndName', downloadPath: '/tmp/../home/jail' }`,
      ],
      ['downloads wherever the browser likes', `'Browser.setDownloadBehavior', { behavior: 'default' }`],
      [
        'downloads of a page outside scratch',
        `'Page.setDownloadBehavior', { behavior: 'allow', downloadPath: '/usr' }, page.sessionId`,
      ],
      ['a tab with a file', `'Target.createTarget', { url: 'file://' + t.file }`],
      ['a file by navigation', `'Page.navigate', { url: 'file://' + t.file }, page.sessionId`],
      ['a file as source', `'Page.navigate', { url: 'view-source:file://' + t.file }, page.sessionId`],
      ['a file behind blanks', `'Page.navigate', { url: ' \\tfi\\nle://' + t.file }, page.sessionId`],
      ['a page of the browser', `'Page.navigate', { url: 'chrome://version' }, page.sessionId`],
      [
        'a file loaded by the protocol',
        `'Network.loadNetworkResource', { frameId: page.targetId, url: 'file://' + t.file, options: { disableCache: true, includeCredentials: false } }, page.sessionId`,
      ],
      ['the end of the browser', `'Browser.close'`],
      ['a crash of the browser', `'Browser.crash'`],
      ['the protocol for pages', `'Target.exposeDevToolsProtocol', { targetId: page.targetId }`],
      [
        'a command in an envelope',
        `'Target.sendMessageToTarget', { sessionId: page.sessionId, message: '{"id":1,"method":"Browser.close"}' }`,
      ],
      ['other browsers', `'Target.setRemoteLocations', { locations: [{ host: '127.0.0.1', port: t.httpPort }] }`],
      ['facts about the machine', `'SystemInfo.getInfo'`],
      ['how the browser was started', `'Browser.getBrowserCommandLine'`],
      ['extensions', `'Extensions.loadUnpacked', { path: t.folder }`],
      ['a trace into a file', `'Tracing.start', { perfettoConfig: 'AAAA' }`],
      ['a domain of no name', `'__proto__.toString'`],
    ] as const
  ).map(([name, args]): Attempt => ({ name, code: `one.send(${args})`, ends: REFUSED })),
  {
    name: 'uploads a file of the host',
    code: `(async () => {
      await one.send('DOM.enable', {}, page.sessionId);
      const { result } = await one.send('Runtime.evaluate', { expression: "document.body.innerHTML = '<input type=file>'; document.querySelector('input')" }, page.sessionId);
      await one.send('DOM.setFileInputFiles', { files: ['/etc/hostname'], objectId: result.objectId }, page.sessionId);
      return valueOf("document.querySelector('input').files[0].text()");
    })()`,
    ends: REFUSED,
  },
  {
    // Both by the names that they have on the host, where /tmp is another than the session's.
    name: 'uploads a file of the temporary folder of the host',
    code: `(async () => {
      const { result } = await one.send('Runtime.evaluate', { expression: "document.body.innerHTML = '<input type=file>'; document.querySelector('input')" }, page.sessionId);
      await one.send('DOM.setFileInputFiles', { files: [t.file], objectId: result.objectId }, page.sessionId);
      return 'got ' + (await valueOf("document.querySelector('input').files[0].text().catch(String)"));
    })()`,
    ends: /^got /,
  },
  {
    name: 'downloads into the temporary folder of the host',
    code: `(async () => {
      await one.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: t.folder + '/open', eventsEnabled: true });
      await one.send('Runtime.evaluate', { expression: "var a = document.createElement('a'); a.href = 'data:application/octet-stream,x'; a.download = 'download.txt'; document.body.append(a); a.click()" }, page.sessionId);
      const state = () => one.events.findLast(({ method }) => method === 'Browser.downloadProgress')?.params.state;
      for (let tries = 0; tries < 500 && !['completed', 'canceled'].includes(state()); tries++) await new Promise((resolve) => setTimeout(resolve, 20));
      return 'ended ' + state();
    })()`,
    ends: /^ended/,
  },
  {
    name: 'ends the browser by another session of it',
    code: `(async () => {
      const { sessionId } = await one.send('Target.attachToBrowserTarget');
      return one.send('Browser.close', {}, sessionId);
    })()`,
    ends: REFUSED,
  },
  {
    name: 'opens a file by a tab of another session of the browser',
    code: `(async () => {
      const { sessionId } = await one.send('Target.attachToBrowserTarget');
      return one.send('Target.createTarget', { url: 'file://' + t.file }, sessionId);
    })()`,
    ends: REFUSED,
  },
  {
    name: 'attaches to a target that is not its own',
    code: `one.send('Target.attachToTarget', { targetId: 'F'.repeat(32), flatten: true })`,
    ends: /No target with given id/,
  },
  {
    name: 'uses the session of the helpers',
    code: `(async () => {
      await drainEvents();
      await gotoUrl('data:text/html,secret');
      const { sessionId } = (await drainEvents()).find((event) => event.sessionId);
      return one.send('Runtime.evaluate', { expression: '"escaped"' }, sessionId);
    })()`,
    ends: NO_SESSION,
  },
  {
    name: 'uses the session of another connection',
    code: `(async () => { const two = await connect(); try { return await two.send('Runtime.evaluate', { expression: '"escaped"' }, page.sessionId); } finally { two.socket.close(); } })()`,
    ends: NO_SESSION,
  },
  {
    name: 'has its own session used by cdp()',
    code: `cdp('Runtime.evaluate', { expression: '"escaped"' }, page.sessionId)`,
    ends: /there is no such session/,
  },
  {
    name: 'uses a session of no name',
    code: `one.send('Runtime.evaluate', { expression: '"escaped"' }, '__proto__')`,
    ends: NO_SESSION,
  },
  {
    name: 'hears of the sessions of others',
    code: `(async () => {
      one.events.length = 0;
      await cdp('Runtime.evaluate', { expression: 'console.log("of the helpers")' });
      await one.send('Browser.getVersion');
      return 'heard ' + one.events.filter(({ sessionId }) => sessionId !== undefined && sessionId !== page.sessionId).length;
    })()`,
    ends: /^heard 0$/,
  },
  {
    name: 'sends what is too large',
    code: `one.raw({ id: ++one.last, method: 'Runtime.evaluate', params: { expression: '"' + 'x'.repeat(9 << 20) + '"' }, sessionId: page.sessionId }).then((answer) => answer.error.message)`,
    ends: /the limit is 8388608$/,
  },
  {
    name: 'sends forty megabytes',
    code: `(async () => { const two = await connect(); two.socket.send('x'.repeat(40 << 20)); return two.closing; })()`,
    ends: /^closed (?:1009|1006)/,
  },
  {
    name: 'sends what is no command',
    code: `(async () => {
      const two = await connect();
      const answers = [];
      two.socket.removeAllListeners('message');
      two.socket.on('message', (data) => answers.push(JSON.parse(data.toString()).error.code));
      for (const text of ['{', 'null', '[]', '7', '{"id":-1}', '{"id":1}', '{"id":1,"method":7}', '{"id":1,"method":"A.b","params":[]}', '{"id":1,"method":"A.b","sessionId":{}}']) two.socket.send(text);
      while (answers.length < 9 && !two.closed) await new Promise((resolve) => setTimeout(resolve, 10));
      two.socket.close();
      return 'answers ' + answers.length + ' ' + answers.every((code) => code < 0);
    })()`,
    ends: /^answers 9 true$/,
  },
  {
    name: 'sends the same id twice',
    code: `(async () => {
      const wait = { method: 'Runtime.evaluate', params: { expression: 'new Promise(() => {})', awaitPromise: true }, sessionId: page.sessionId };
      one.last = 1000;
      one.socket.send(JSON.stringify({ id: 1000, ...wait }));
      return (await one.raw({ id: 1000, ...wait })).error.message;
    })()`,
    ends: /refused: a command with the id 1000 is in flight$/,
  },
  {
    name: 'sends thousands at once',
    code: `(async () => {
      const two = await connect();
      const all = Array.from({ length: 4000 }, () => two.send('Browser.close').then(() => 'closed', (error) => error.message));
      const refused = (await Promise.all(all)).filter((text) => /refused: /.test(text)).length;
      two.socket.close();
      return 'refused ' + refused;
    })()`,
    ends: /^refused 4000$/,
  },
  {
    name: 'connects a hundred times',
    code: `(async () => {
      const got = await Promise.all(Array.from({ length: 100 }, () => connect().catch(() => undefined)));
      const open = got.filter((client) => client !== undefined);
      const alive = await Promise.all(open.map((client) => client.send('Browser.getVersion').then(() => true, () => false)));
      for (const { socket } of open) socket.close();
      await Promise.all(open.map(({ closing }) => closing));
      return alive.filter(Boolean).length <= 8 ? 'few' : 'many';
    })()`,
    ends: /^few$/,
  },
  {
    name: 'reaches it from a page',
    code: `(async () => {
      const { sessionId } = await tab(t.site);
      const { port } = new URL(process.env.CDP_ENDPOINT);
      const tries = "Promise.all(['" + process.env.CDP_ENDPOINT + "', 'ws://localhost:" + port + "/'].map((url) => new Promise((resolve) => { const socket = new WebSocket(url); socket.onopen = () => resolve('open'); socket.onerror = () => resolve('refused'); }))).then(String)";
      return valueOf(tries, sessionId);
    })()`,
    ends: /^refused,refused$/,
  },
];

describe.skipIf(noJail)(`escape attempts through CDP_ENDPOINT${whyNot}`, { timeout: 300_000 }, () => {
  let host: Host;
  let site: Server;
  let session: ReplSession;
  let results: Readonly<Record<string, string>> = {};
  let address = '';

  const run = async (code: string): Promise<string> => {
    const { error, content = [] } = await session.execute({ code, timeoutMs: 200_000 });
    if (error !== undefined) throw new Error(error);
    return content.map((item) => (item.type === 'text' && item.channel === 'write' ? item.text : '')).join('');
  };

  beforeAll(async () => {
    host = await createHost();
    site = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<title>site</title>'));
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    const { port } = site.address() as AddressInfo;
    session = await openLocalSession(
      { jail: probe, egress: [{ host: '127.0.0.1', port }, { host: '*' }] },
      new AbortController().signal,
    );
    await run(CLIENT);
    address = await run('repl.write(process.env.CDP_ENDPOINT)');
    const targets = { ...host.targets, site: `http://127.0.0.1:${port}/` };
    const attempts = ATTEMPTS.map(({ name, code }) => `[${JSON.stringify(name)}, async () => ${code}]`);
    const wrote = await run(`
      var t = ${JSON.stringify(targets)};
      var results = {};
      for (const [name, attempt] of [${attempts.join(',\n')}]) {
        const limit = new Promise((resolve) => setTimeout(resolve, 60000, 'no end'));
        const got = await Promise.race([attempt(), limit]).catch((error) => error.message);
        results[name] = typeof got === 'string' ? got : JSON.stringify(got);
      }
      repl.write(JSON.stringify(results));
    `);
    results = JSON.parse(wrote) as typeof results;
  }, 300_000);
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    site?.close();
    await host?.[Symbol.asyncDispose]();
  });

  test.each(ATTEMPTS)('$name', ({ name, ends }) => {
    expect(results[name]).toMatch(ends);
    expect(results[name]).not.toContain(host.targets.secret);
    expect(results[name]).not.toContain('escaped');
  });

  test('what is allowed works by the same client afterwards', async () => {
    expect(await run(`repl.write(await valueOf('6 * 7'))`)).toBe('42');
  });

  test('nobody outside of the jail reaches it', async () => {
    const outcome = new Promise<string>((resolve) => {
      const socket = new WebSocket(address);
      socket.on('open', () => resolve('open'));
      socket.on('error', (error) => resolve(`refused: ${error.message}`));
    });
    expect(await outcome).toMatch(/^refused: /);
  });

  test.each([
    ['a connection twice', `send({ type: 'cdp-open', connection: 1 })`],
    ['a connection without a number', `send({ type: 'cdp-open', connection: 0 })`],
    [
      'a command with more than it may hold',
      `send({ type: 'cdp-command', connection: 1, id: 1, method: 'Page.enable', params: {}, own: true })`,
    ],
    [
      'a command whose parameters are none',
      `send({ type: 'cdp-command', connection: 1, id: 1, method: 'Page.enable', params: [] })`,
    ],
  ])('forges %s, which ends its runtime', async (_name, forged) => {
    await session.execute({ code: '', reset: true });
    await run(CLIENT);
    const result = await session.execute({
      code: `
        var send = (value) => { const json = Buffer.from(JSON.stringify(value)); const length = Buffer.alloc(4); length.writeUInt32BE(json.length); fs.writeSync(4, Buffer.concat([length, json])); };
        ${forged}; await new Promise(() => {})`,
      timeoutMs: 60_000,
    });
    expect(result).toMatchObject({ success: false, repl_terminated: true });
    expect(result.error).toContain('it broke the protocol');
  });

  test('leave the host as it was', () => expect(host.damage()).toEqual([]));
});
