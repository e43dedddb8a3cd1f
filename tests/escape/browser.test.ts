// Escape attempts from the browser's side: raw protocol commands and pages, with no policy in between, against a
// Chromium in the jail. Zero may succeed. Those with a control are made against a plain Chromium too, where they must
// succeed, or they prove nothing.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, locateChromium, type Browser } from '../../src/browser/index.ts';
import { launchJailedBrowser } from '../../src/repl/index.ts';
import {
  createEgressProxy,
  createScratchFolder,
  type EgressEvent,
  type EgressProxy,
  type ScratchFolder,
} from '../../src/sandbox/index.ts';
import { noJail, probe, whyNot } from '../sandbox/jail.ts';
import { createHost, type Host, type Targets } from './targets.ts';

type Attempt = {
  readonly name: string;
  readonly control: boolean;
  /** What was got; an escape when it holds the secret. */
  readonly run: (driver: Driver, targets: Targets) => Promise<string>;
};

/** A raw tab, without any of the project's policy. */
type Driver = {
  readonly browser: Browser;
  /** A page of the listed site, where scripts may make requests. */
  readonly site: string;
  /** Opens an address in a tab of its own (in a context made with `context`), and reads its text. */
  textOf(url: string, context?: object): Promise<string>;
  /** Runs a script in a tab at `url`; its value as text. */
  evaluate(expression: string, url?: string): Promise<string>;
};

function drive(browser: Browser, site: string): Driver {
  const root = browser.cdp;
  const command = async (method: string, params: object, session?: string): Promise<Record<string, unknown>> =>
    (await root.request(method, params, session)) as Record<string, unknown>;

  const inTab = async <T>(
    context: object | undefined,
    use: (session: string, target: string) => Promise<T>,
  ): Promise<T> => {
    const created = context === undefined ? {} : await command('Target.createBrowserContext', context);
    const { targetId } = (await command('Target.createTarget', { url: 'about:blank', ...created })) as {
      targetId: string;
    };
    try {
      const { sessionId } = await command('Target.attachToTarget', { targetId, flatten: true });
      return await use(sessionId as string, targetId);
    } finally {
      await command('Target.closeTarget', { targetId });
    }
  };
  const evaluateIn = async (session: string, expression: string): Promise<string> => {
    const answer = (await command(
      'Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true },
      session,
    )) as {
      result: { value?: string; description?: string };
    };
    return answer.result.value ?? answer.result.description ?? '';
  };
  const load = async (session: string, url: string): Promise<void> => {
    await command('Page.enable', {}, session);
    const loaded = new Promise<void>((resolve) => {
      const off = root.onMessage(({ method, sessionId }) => {
        if (method !== 'Page.loadEventFired' || sessionId !== session) return;
        off();
        resolve();
      });
    });
    const { errorText } = await command('Page.navigate', { url }, session);
    if (errorText !== undefined) throw new Error(errorText as string);
    await loaded;
  };
  return {
    browser,
    site,
    textOf: (url, context) =>
      inTab(context, async (session) => {
        await load(session, url);
        return evaluateIn(session, 'document.documentElement.innerText');
      }),
    evaluate: (expression, url = site) =>
      inTab(undefined, async (session) => {
        await load(session, url);
        return evaluateIn(session, expression);
      }),
  };
}

const download = (folder: string, name: string) => async (driver: Driver) => {
  await driver.browser.cdp.request(
    'Browser.setDownloadBehavior',
    { behavior: 'allow', downloadPath: folder, eventsEnabled: true },
    undefined,
  );
  const done = new Promise<string>((resolve) => {
    const off = driver.browser.cdp.onMessage(({ method, params }) => {
      const { state } = params as { state?: string };
      if (method !== 'Browser.downloadProgress' || state === 'inProgress') return;
      off();
      resolve(String(state));
    });
  });
  await driver.evaluate(
    `(() => { const a = document.createElement('a'); a.href = 'data:application/octet-stream,x'; a.download = '${name}'; document.body.append(a); a.click(); return new Promise((resolve) => setTimeout(resolve, 1000)); })()`,
  );
  return Promise.race([
    done,
    new Promise<string>((resolve) => setTimeout(() => resolve('nothing was downloaded'), 10_000)),
  ]);
};

const ATTEMPTS: readonly Attempt[] = [
  { name: 'opens a file of the host', control: true, run: (d, t) => d.textOf(`file://${t.file}`) },
  {
    name: 'opens the folder of the secret',
    control: true,
    run: async (d, t) =>
      (await d.evaluate('document.documentElement.outerHTML', `file://${t.folder}/`)).includes('secret.txt')
        ? t.secret
        : 'no listing',
  },
  { name: 'opens it as source', control: true, run: (d, t) => d.textOf(`view-source:file://${t.file}`) },
  {
    name: 'opens it through the root of the first process',
    control: false,
    run: (d, t) => d.textOf(`file:///proc/1/root${t.file}`),
  },
  {
    name: 'opens the accounts of the host',
    control: true,
    run: async (d, t) => ((await d.textOf('file:///etc/passwd')).includes(':') ? t.secret : ''),
  },
  { name: 'opens its own environment', control: false, run: (d) => d.textOf('file:///proc/self/environ') },
  {
    name: 'has a file of the host loaded by the protocol',
    control: false,
    run: (d, t) => loadResource(d, `file://${t.file}`),
  },
  { name: 'uploads a file of the host into a page', control: true, run: (d, t) => upload(d, t.file) },
  { name: 'uploads through a link in the scratch folder', control: false, run: (d) => upload(d, '/tmp/to-secret') },
  { name: 'reaches loopback by address', control: true, run: (d, t) => d.textOf(`http://127.0.0.1:${t.httpPort}/`) },
  { name: 'reaches loopback by name', control: true, run: (d, t) => d.textOf(`http://localhost:${t.httpPort}/`) },
  {
    name: 'reaches loopback by a name below localhost',
    control: true,
    run: (d, t) => d.textOf(`http://any.localhost:${t.httpPort}/`),
  },
  { name: 'reaches loopback by IPv6', control: false, run: (d, t) => d.textOf(`http://[::1]:${t.httpPort}/`) },
  { name: 'reaches loopback by a number', control: true, run: (d, t) => d.textOf(`http://2130706433:${t.httpPort}/`) },
  {
    name: 'reaches loopback by the address of everything',
    control: false,
    run: (d, t) => d.textOf(`http://0.0.0.0:${t.httpPort}/`),
  },
  {
    name: 'reaches the machine by its own address',
    control: false,
    run: (d, t) => d.textOf(`http://${t.ownAddress ?? '127.0.0.1'}:${t.httpPort}/`),
  },
  {
    name: 'reaches loopback through a listed redirect',
    control: true,
    run: (d, t) => d.textOf(`${d.site}redirect?to=${encodeURIComponent(`http://127.0.0.1:${t.httpPort}/`)}`),
  },
  {
    name: 'reaches loopback by a name that resolves to it',
    control: false,
    run: (d, t) => d.textOf(`http://rebinding.test:${t.httpPort}/`),
  },
  {
    name: 'reaches loopback by TLS',
    control: false,
    run: async (d, t) => d.textOf(`https://127.0.0.1:${t.httpPort}/`),
  },
  {
    name: 'reaches the metadata service of a cloud',
    control: false,
    run: async (d, t) =>
      (await d.textOf('http://169.254.169.254/latest/meta-data/')).includes('refused') ? '' : t.secret,
  },
  {
    name: 'reaches the end of the way out in its own jail',
    control: false,
    run: async (d, t) => ((await d.textOf('http://127.0.0.1:3128/')).includes('refused') ? '' : t.secret),
  },
  {
    name: 'reaches loopback by a request of a page',
    control: true,
    run: (d, t) => d.evaluate(`fetch('http://127.0.0.1:${t.httpPort}/').then((answer) => answer.text())`),
  },
  {
    name: 'reaches loopback by a frame',
    control: true,
    run: (d, t) => frameSays(d, `http://127.0.0.1:${t.httpPort}/`),
  },
  {
    name: 'reaches loopback by a context without a proxy',
    control: true,
    run: (d, t) => d.textOf(`http://127.0.0.1:${t.httpPort}/`, { proxyServer: 'direct://' }),
  },
  {
    name: 'reaches loopback by a context that bypasses it',
    control: true,
    run: (d, t) =>
      d.textOf(`http://127.0.0.1:${t.httpPort}/`, {
        proxyServer: 'http://127.0.0.1:9',
        proxyBypassList: '127.0.0.1;localhost',
      }),
  },
  {
    name: 'reaches a server as if that were its proxy',
    control: true,
    run: (d, t) => d.textOf('http://anything.test/', { proxyServer: `http://127.0.0.1:${t.httpPort}` }),
  },
];

async function loadResource({ browser, site }: Driver, url: string): Promise<string> {
  const { cdp } = browser;
  const { targetId } = (await cdp.request('Target.createTarget', { url: site }, undefined)) as { targetId: string };
  const { sessionId } = (await cdp.request('Target.attachToTarget', { targetId, flatten: true }, undefined)) as {
    sessionId: string;
  };
  const { frameTree } = (await cdp.request('Page.getFrameTree', {}, sessionId)) as {
    frameTree: { frame: { id: string } };
  };
  const options = { disableCache: true, includeCredentials: false };
  const { resource } = (await cdp.request(
    'Network.loadNetworkResource',
    { frameId: frameTree.frame.id, url, options },
    sessionId,
  )) as {
    resource: { success: boolean; stream?: string };
  };
  if (!resource.success) return 'not loaded';
  const { data, base64Encoded } = (await cdp.request('IO.read', { handle: resource.stream }, sessionId)) as {
    data: string;
    base64Encoded?: boolean;
  };
  return base64Encoded ? Buffer.from(data, 'base64').toString() : data;
}

async function upload({ browser }: Driver, path: string): Promise<string> {
  const { cdp } = browser;
  const url = `data:text/html,<input type=file>`;
  const { targetId } = (await cdp.request('Target.createTarget', { url }, undefined)) as { targetId: string };
  const { sessionId } = (await cdp.request('Target.attachToTarget', { targetId, flatten: true }, undefined)) as {
    sessionId: string;
  };
  const evaluate = async (expression: string, returnByValue: boolean) =>
    (
      (await cdp.request('Runtime.evaluate', { expression, awaitPromise: true, returnByValue }, sessionId)) as {
        result: { objectId?: string; value?: string; description?: string };
      }
    ).result;
  // The target's first document may be replaced while it is being looked at.
  const look = () =>
    evaluate(
      `new Promise((resolve) => { const look = () => { const input = document.querySelector('input'); if (input) resolve(input); else setTimeout(look, 20); }; look(); })`,
      false,
    );
  const { objectId } = await look().catch(look);
  await cdp.request('DOM.setFileInputFiles', { files: [path], objectId }, sessionId);
  const { value, description } = await evaluate(`document.querySelector('input').files[0].text()`, true);
  return value ?? description ?? '';
}

function frameSays(driver: Driver, url: string): Promise<string> {
  return driver.evaluate(`new Promise((resolve) => {
    window.onmessage = ({ data }) => resolve(data);
    setTimeout(() => resolve('silence'), 2000);
    const frame = document.createElement('iframe');
    frame.src = '${url}';
    document.body.append(frame);
  })`);
}

describe.skipIf(noJail)(`escape attempts from the browser${whyNot}`, { timeout: 60_000 }, () => {
  let host: Host;
  let site: Server;
  let stun: Socket;
  let scratch: ScratchFolder;
  let egress: EgressProxy;
  let jailed: Driver;
  let plain: Driver;
  let heard = 0;
  const events: EgressEvent[] = [];

  beforeAll(async () => {
    host = await createHost();
    site = createServer((incoming, response) => {
      const to = new URL(incoming.url!, 'http://site').searchParams.get('to');
      if (to === null) response.setHeader('Content-Type', 'text/html').end('<title>site</title>');
      else response.writeHead(302, { Location: to }).end();
    });
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    stun = createSocket('udp4').on('message', () => heard++);
    stun.bind(0, '127.0.0.1');
    await once(stun, 'listening');
    const { port } = site.address() as AddressInfo;
    scratch = createScratchFolder();
    symlinkSync(host.targets.file, join(scratch.folder, 'to-secret'));
    symlinkSync(join(host.targets.folder, 'open'), join(scratch.folder, 'to-folder'));
    egress = await createEgressProxy({
      // As generous as a policy for real websites, with the one local site beside it.
      rules: [{ host: '127.0.0.1', port }, { host: '*' }, { host: 'rebinding.test', port: host.targets.httpPort }],
      lookup: async () => ['127.0.0.1'],
      onRequest: (event) => events.push(event),
    });
    const location = await locateChromium();
    const url = `http://127.0.0.1:${port}/`;
    const mode = 'ordinary';
    jailed = drive(await launchJailedBrowser({ probe, egress, scratch, location, mode }), url);
    plain = drive(await launchBrowser({ location, mode }), url);
  });
  afterAll(async () => {
    await jailed.browser[Symbol.asyncDispose]();
    await plain.browser[Symbol.asyncDispose]();
    await egress[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
    site.close();
    stun.close();
    await host[Symbol.asyncDispose]();
  });

  test.each(ATTEMPTS)('$name', async ({ run, control }) => {
    const inside = await run(jailed, host.targets).catch((error: Error) => error.message);
    expect(inside).not.toContain(host.targets.secret);
    if (control) expect(await run(plain, host.targets)).toContain(host.targets.secret);
  });

  test('sends a packet by WebRTC', async () => {
    const { port } = stun.address();
    const offer = `new Promise((resolve) => {
      const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] });
      connection.createDataChannel('x');
      connection.createOffer().then((offer) => connection.setLocalDescription(offer));
      setTimeout(resolve, 1500);
    })`;
    await jailed.evaluate(offer);
    expect(heard).toBe(0);
    await plain.evaluate(offer);
    expect(heard).toBeGreaterThan(0);
  });

  test.each([
    ['a folder of the host', (targets: Targets) => join(targets.folder, 'open')],
    ['the programs of the machine', () => '/usr'],
    ['a folder of the host by a link in scratch', () => '/tmp/to-folder'],
  ])('downloads into %s', async (_name, folder) => {
    await download(folder(host.targets), 'download.txt')(jailed).catch(() => undefined);
    expect(host.damage()).toEqual([]);
  });

  test('a download into a folder of the host works without the jail, and into scratch with it', async () => {
    const own = join(host.targets.folder, 'control');
    mkdirSync(own);
    expect(await download(own, 'download.txt')(plain)).toBe('completed');
    expect(readFileSync(join(own, 'download.txt'), 'utf8')).toBe('x');
    expect(await download('/tmp', 'download.txt')(jailed)).toBe('completed');
    expect(readFileSync(join(scratch.folder, 'download.txt'), 'utf8')).toBe('x');
  });

  test('every request that was let through went to the listed site', () => {
    const { port } = site.address() as AddressInfo;
    const through = events.filter(({ address }) => address !== undefined);
    expect(through.length).toBeGreaterThan(0);
    expect(through.every((event) => event.host === '127.0.0.1' && event.port === port)).toBe(true);
  });
});
