// Start pages that say of themselves what no page should: an episode begins on them all the same, or is invalid, and the
// run goes on. Real Chromium.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWebTaskEnv } from '../../src/envs/index.ts';
import { createLocalProvider, type SessionProvider } from '../../src/repl/index.ts';
import { probe } from '../sandbox/jail.ts';

const { signal } = new AbortController();
const PAGES: Readonly<Record<string, string>> = {
  '/long': `<script>document.title = 'x'.repeat(1_000_000)</script>`,
  '/number': `<script>Object.defineProperty(document, 'title', { value: { a: 7 } })</script>`,
  '/throws': `<script>Object.defineProperty(document, 'title', { get() { throw new Error('no title') } })</script>`,
  '/dialog': `<script>alert('y'.repeat(1_000_000))</script>`,
};

let server: Server;
let origin: string;
let provider: SessionProvider;
beforeAll(async () => {
  server = createServer(({ url = '' }, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGES[url] ?? ''),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  const egress = [{ host: '127.0.0.1', port }];
  provider = createLocalProvider({ jail: probe.available ? probe : 'unsafe-local', egress, sessions: 1, episodes: 50 });
}, 60_000);
afterAll(async () => {
  await provider?.[Symbol.asyncDispose]();
  server?.closeAllConnections();
  server?.close();
}, 60_000);

async function firstPage(path: string): Promise<Readonly<Record<string, unknown>>> {
  const env = createWebTaskEnv({ provider, tasks: [{ url: `${origin}${path}`, instruction: 'Look.' }], capacity: 1 });
  await using episode = await env.open(env.task(0), { signal });
  return JSON.parse(episode.first.page) as Readonly<Record<string, unknown>>;
}

it('a title of a megabyte is cut', { timeout: 60_000 }, async () => {
  const { title, url } = await firstPage('/long');
  expect([title, url]).toEqual([`${'x'.repeat(1_000)}…`, `${origin}/long`]);
});

it('a title that is no text counts as none', { timeout: 60_000 }, async () => {
  expect(await firstPage('/number')).toEqual({ url: `${origin}/number`, title: '' });
});

it(
  'a title that throws is a failure of the browser, which ends one episode and no run',
  { timeout: 60_000 },
  async () => {
    await expect(firstPage('/throws')).rejects.toMatchObject({ boundary: 'browser', code: 'start-page-failed' });
  },
);

it('a dialog with a megabyte of text is cut', { timeout: 60_000 }, async () => {
  const { dialog } = await firstPage('/dialog');
  expect((dialog as { message: string }).message.length).toBeLessThanOrEqual(1_001);
  expect(dialog).toMatchObject({ type: 'alert' });
});
