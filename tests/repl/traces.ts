// What an episode can leave behind in a browser and its runtime, and how the next one would notice. For tests of providers:
// `look` in a session that nobody used, `leave`, `look` again (everything shows), and `look` in the next episode.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EgressRule } from '../../src/sandbox/index.ts';
import type { ReplSession } from '../../src/repl/session.ts';

export interface TraceSite extends AsyncDisposable {
  /** Two sites of one server. */
  readonly origins: readonly string[];
  readonly egress: readonly EgressRule[];
  /** Requests for something that browsers may keep. */
  readonly cacheable: number;
}

export async function serveTraceSite(): Promise<TraceSite> {
  let cacheable = 0;
  const server = createServer(({ url }, response) => {
    if (url === '/worker.js') {
      response.setHeader('content-type', 'text/javascript').end('self.onfetch = () => undefined;');
    } else if (url === '/kept') {
      cacheable++;
      response.setHeader('cache-control', 'max-age=86400').end('kept');
    } else {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Traces</title>');
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const hosts = ['127.0.0.1', 'localhost'];
  return {
    origins: hosts.map((host) => `http://${host}:${port}`),
    egress: hosts.map((host) => ({ host, port })),
    get cacheable() {
      return cacheable;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

export type Traces = {
  readonly tabs: readonly string[];
  readonly contexts: number;
  readonly workers: readonly string[];
  readonly files: readonly string[];
  readonly globals: readonly string[];
  readonly pages: readonly {
    readonly cookie: string;
    readonly stored: readonly number[];
    readonly added: readonly string[];
    readonly agentIsReal: boolean;
    readonly mayLocate: string;
  }[];
};

export async function look(session: ReplSession, site: TraceSite): Promise<Traces> {
  return JSON.parse(
    await run(
      session,
      `
      const { dirname } = await import('node:path');
      const { readdirSync } = await import('node:fs');
      const found = {
        tabs: (await listTabs()).map(({ url }) => url).sort(),
        contexts: (await cdp('Target.getBrowserContexts')).browserContextIds.length,
        workers: (await cdp('Target.getTargets')).targetInfos.map(({ type }) => type).filter((type) => type.includes('worker')),
        // Beside this look's own picture and what the loader of TypeScript keeps.
        files: readdirSync(dirname(await captureScreenshot())).filter((name) => !/^(shot\\.png|tsx-.*)$/.test(name)),
        globals: [typeof leftGlobal, typeof leftVariable],
        pages: [],
      };
      for (const origin of ${JSON.stringify(site.origins)}) {
        await newTab(origin + '/');
        await waitForLoad();
        found.pages.push(await js(async () => ({
          cookie: document.cookie,
          stored: [
            localStorage.length,
            sessionStorage.length,
            (await indexedDB.databases()).length,
            (await caches.keys()).length,
            (await navigator.serviceWorker.getRegistrations()).length,
          ],
          added: [typeof leftBinding, typeof leftScript, typeof navigator.serviceWorker.controller?.scriptURL],
          agentIsReal: navigator.userAgent.includes('Chrome'),
          mayLocate: (await navigator.permissions.query({ name: 'geolocation' })).state,
          kept: await (await fetch('/kept')).text() && undefined,
        })));
      }
      repl.write(JSON.stringify(found));
      `,
    ),
  ) as Traces;
}

/** Everything that `look` would see. */
export async function leave(session: ReplSession, site: TraceSite): Promise<void> {
  await run(
    session,
    `
    for (const origin of ${JSON.stringify(site.origins)}) {
      await cdp('Browser.grantPermissions', { origin, permissions: ['geolocation'] });
      await newTab(origin + '/');
      await waitForLoad();
      await js(async () => {
        document.cookie = 'left=yes; max-age=86400';
        localStorage.setItem('left', 'yes');
        await new Promise((done, fail) => {
          const opening = indexedDB.open('left', 1);
          opening.onsuccess = () => { opening.result.close(); done(); };
          opening.onerror = fail;
        });
        await (await caches.open('left')).put('/left', new Response('yes'));
        await navigator.serviceWorker.register('/worker.js');
        await navigator.serviceWorker.ready;
      });
    }
    await captureScreenshot('left.png');
    await cdp('Target.createBrowserContext');
    globalThis.leftGlobal = 1;
    var leftVariable = 1;
    setInterval(() => console.log('still here'), 5);
    `,
  );
}

/** What would keep a tab of the next episode from even loading; after it, this session is of no more use. */
export async function leaveTraps(session: ReplSession): Promise<void> {
  await run(
    session,
    `
    await cdp('Runtime.addBinding', { name: 'leftBinding' });
    await cdp('Page.addScriptToEvaluateOnNewDocument', { source: 'window.leftScript = 1' });
    await cdp('Emulation.setUserAgentOverride', { userAgent: 'left' });
    await js('window.onbeforeunload = (event) => event.preventDefault(), setTimeout(() => alert("left"), 0), 1');
    await cdp('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }, null);
    `,
  );
}

async function run(session: ReplSession, code: string): Promise<string> {
  const { error, stack, content = [] } = await session.execute({ code: `{${code}}`, timeoutMs: 30_000 });
  if (error !== undefined) throw new Error(`${error}\n${stack}`);
  return content.map((item) => (item.type === 'text' && item.channel === 'write' ? item.text : '')).join('');
}
