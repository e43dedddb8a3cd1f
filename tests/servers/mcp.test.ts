// `tabwright mcp` as a client of the Model Context Protocol starts it, with a real browser.

import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import type { BrowserReplResult } from '../../src/repl/index.ts';
import { isProcessAlive } from '../../src/util/index.ts';
import { descendants, noJail, whyNot } from '../sandbox/jail.ts';
import { startPageSite } from './page-site.ts';

const TIMEOUT = 120_000;

test.skipIf(noJail)(
  `the official client finds the tool, drives a browser, and leaves nothing behind${whyNot}`,
  async () => {
    await using site = await startPageSite();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ['--import', 'tsx', 'src/cli/main.ts', 'mcp', '--allow', site.host],
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: {
        PATH: process.env.PATH ?? '',
        CI: '1',
        ...(process.env.CHROME_PATH ? { CHROME_PATH: process.env.CHROME_PATH } : {}),
      },
    });
    const client = new Client({ name: 'test', version: '0' });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['browser_repl']);
    expect(tools[0].description).toContain('accessibilitySnapshot');

    const call = async (code: string): Promise<{ result: BrowserReplResult; kinds: string[] }> => {
      const answer = (await client.callTool(
        { name: 'browser_repl', arguments: { session_id: 'shop', code } },
        undefined,
        { timeout: 90_000 },
      )) as CallToolResult;
      const [first] = answer.content;
      const result = JSON.parse(first.type === 'text' ? first.text : '') as BrowserReplResult;
      return { result, kinds: answer.content.map(({ type }) => type) };
    };
    const opened = await call(`await gotoUrl(${JSON.stringify(site.url)}); await waitForLoad(); var n = 41;`);
    expect(opened).toMatchObject({ result: { success: true }, kinds: ['text'] });
    const shown = await call(
      'repl.write((await pageInfo()).title + (n + 1)); await repl.emitImage({ path: await captureScreenshot() });',
    );
    expect(shown.kinds).toEqual(['text', 'image']);
    expect(shown.result.content?.[0]).toMatchObject({ index: 0, channel: 'write', text: 'Shop42' });
    expect((await call('throw new Error("no")')).result).toMatchObject({ success: false, error: 'Error: no' });

    const started = await descendants(transport.pid!);
    expect(started.length).toBeGreaterThan(2);
    await client.close();
    await expect.poll(() => started.filter(({ pid }) => isProcessAlive(pid)), { timeout: 15_000 }).toEqual([]);
  },
  TIMEOUT,
);
