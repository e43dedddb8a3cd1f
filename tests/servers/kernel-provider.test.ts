// The provider for Kernel's pools against our own server, over real HTTP, with a real browser: an episode finds nothing of
// the one before it, though it is the same browser.

import Kernel from '@onkernel/sdk';
import { expect, test } from 'vitest';
import { createKernelProvider, type ReplSession } from '../../src/repl/index.ts';
import { noJail, whyNot } from '../sandbox/jail.ts';
import { startPageSite } from './page-site.ts';
import { serveByCli } from './serving-cli.ts';

const TIMEOUT = 120_000;

test.skipIf(noJail)(
  `episodes of one browser leave nothing to each other${whyNot}`,
  async () => {
    await using site = await startPageSite();
    await using server = await serveByCli(['--port', '0', '--allow', site.host]);
    const client = new Kernel({ apiKey: 'none', baseURL: server.url });
    await client.browserPools.create({ name: 'training', size: 1 });
    await using provider = createKernelProvider({ client, pool: 'training' });
    const { signal } = new AbortController();
    const shown = async (session: ReplSession, code: string): Promise<unknown> => {
      const { success, error, content = [] } = await session.execute({ code, timeoutMs: 20_000 });
      return success ? content.map((item) => (item.type === 'text' ? item.text : '')).join('') : error;
    };
    const visit = `await gotoUrl(${JSON.stringify(site.url)}); await waitForLoad();`;
    const state = `${visit} repl.write(await js('[document.cookie, localStorage.length, history.length].join()'), ' ');
      repl.write(typeof kept + ' ' + (await listTabs()).length);`;

    const first = await provider.acquire({ signal });
    await shown(first, `${visit} var kept = 1; await js('document.cookie = "a=1; max-age=999", localStorage.b = 1');`);
    await shown(first, 'await newTab("about:blank#other");');
    await first[Symbol.asyncDispose]();

    await using second = await provider.acquire({ signal });
    expect(second.id).toBe(first.id);
    expect(await shown(second, state)).toBe(',0,2undefined 1');
  },
  TIMEOUT,
);
