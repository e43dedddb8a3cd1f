// `tabwright browsers serve` with real browsers, asked by Kernel's own client.

import Kernel from '@onkernel/sdk';
import { expect, test } from 'vitest';
import type { BrowserReplResult } from '../../src/repl/index.ts';
import { isProcessAlive } from '../../src/util/index.ts';
import { descendants, noJail, whyNot } from '../sandbox/jail.ts';
import { startPageSite } from './page-site.ts';
import { serveByCli } from './serving-cli.ts';

const TIMEOUT = 120_000;

test.skipIf(noJail)(
  `Kernel's client drives a jailed browser of this machine, and Ctrl-C leaves nothing behind${whyNot}`,
  async () => {
    await using site = await startPageSite();
    await using server = await serveByCli(['--port', '0', '--allow', site.host], {
      TABWRIGHT_BROWSERS_TOKEN: 'let-me-in',
    });
    const kernel = new Kernel({ apiKey: 'let-me-in', baseURL: server.url, maxRetries: 0, timeout: 90_000 });
    const pool = await kernel.browserPools.create({ size: 1, name: 'shop', viewport: { width: 800, height: 600 } });
    const { session_id } = await kernel.browserPools.acquire('shop', { acquire_timeout_seconds: 60 });
    const cell = (code: string): Promise<BrowserReplResult> =>
      kernel.post<BrowserReplResult>(`/browsers/${session_id}/repl`, { body: { code } });

    const opened = await cell(`
      await gotoUrl(${JSON.stringify(site.url)});
      await waitForLoad();
      await click('button');
      var info = await pageInfo();
      repl.write(info.title);
    `);
    expect(opened).toMatchObject({ success: true, content: [{ type: 'text', channel: 'write', text: 'Bought' }] });
    const kept = await cell('repl.write(info.viewport); await repl.emitImage({ path: await captureScreenshot() });');
    expect(kept.content?.map(({ type }) => type)).toEqual(['text', 'image']);
    expect(kept.repl_id).toBe(opened.repl_id);

    const picture = await kernel.browsers.computer.captureScreenshot(session_id, {
      region: { x: 0, y: 0, width: 320, height: 200 },
    });
    const png = Buffer.from(await picture.arrayBuffer());
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([320, 200]);

    await kernel.browserPools.release(pool.id, { session_id });
    const again = await kernel.browserPools.acquire(pool.id, {});
    const { content } = await kernel.post<BrowserReplResult>(`/browsers/${again.session_id}/repl`, {
      body: { code: 'repl.write(info.title)' },
    });
    expect(content).toEqual([{ type: 'text', channel: 'write', text: 'Bought' }]);

    const started = await descendants(server.pid);
    expect(started.length).toBeGreaterThan(2);
    expect(await server.stop()).toBe(0);
    const left = started.filter(({ pid }) => isProcessAlive(pid));
    expect(left).toEqual([]);
  },
  TIMEOUT,
);
