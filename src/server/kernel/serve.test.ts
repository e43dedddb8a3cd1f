// The server over real HTTP, asked by Kernel's own client; the browsers behind it are none.

import { request } from 'node:http';
import Kernel, { APIError } from '@onkernel/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BrowserReplResult } from '../../repl/index.ts';
import { fakeBrowsers, PNG, type FakeBrowsers } from '../fixtures/fake-session.ts';
import { serveKernel, type KernelServer } from './serve.ts';

let browsers: FakeBrowsers;
let failures: unknown[];
let server: KernelServer;
let client: Kernel;

beforeEach(async () => {
  browsers = fakeBrowsers();
  failures = [];
  server = await serve();
  client = new Kernel({ apiKey: 'none', baseURL: server.url, maxRetries: 0 });
});
afterEach(() => server[Symbol.asyncDispose]());

function serve(options: { token?: string; maxBrowsers?: number } = {}): Promise<KernelServer> {
  return serveKernel({ openSession: browsers.open, port: 0, onFailure: (error) => failures.push(error), ...options });
}

/** As the installed client needs it: it has no `repl` of its own yet. */
function cell(id: string, body: object, headers: Record<string, string> = {}): Promise<BrowserReplResult> {
  return client.post<BrowserReplResult>(`/browsers/${id}/repl`, { body, headers });
}

async function failureOf(call: PromiseLike<unknown>): Promise<{ status: unknown; message: string }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof APIError) return { status: error.status, message: error.message };
    throw error;
  }
  throw new Error('the call did not fail');
}

/** Of a POST with exactly these headers. */
function statusOf(path: string, headers: Record<string, string>, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { method: 'POST', headers });
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function acquired(size = 1): Promise<{ pool: string; id: string }> {
  const pool = await client.browserPools.create({ size, name: 'shop' });
  const { session_id } = await client.browserPools.acquire(pool.id, {});
  return { pool: pool.id, id: session_id };
}

test('a pool is made, found by id and by name, changed, listed and deleted', async () => {
  const made = await client.browserPools.create({ size: 2, name: 'shop', timeout_seconds: 60 });
  expect(made).toMatchObject({
    name: 'shop',
    acquired_count: 0,
    browser_pool_config: { size: 2, timeout_seconds: 60 },
  });
  expect((await client.browserPools.retrieve('shop')).id).toBe(made.id);
  const changed = await client.browserPools.update(made.id, { size: 1, name: 'store' });
  expect(changed.browser_pool_config).toEqual({ size: 1, name: 'store', timeout_seconds: 60 });
  const listed = await client.get<{ id: string }[]>('/browser_pools');
  expect(listed.map(({ id }) => id)).toEqual([made.id]);
  await client.browserPools.delete('store');
  expect(await failureOf(client.browserPools.retrieve(made.id))).toMatchObject({ status: 404 });
  expect(browsers.sessions.map(({ disposed }) => disposed)).toEqual([true, true]);
});

test('a browser is acquired, runs cells, is given back and comes back as it was, under its id', async () => {
  const { pool, id } = await acquired();
  expect(await cell(id, { code: 'show hello' })).toEqual({
    success: true,
    repl_id: 'repl0',
    duration_ms: 1,
    content: [{ type: 'text', channel: 'write', text: 'hello' }],
  });
  await client.browserPools.release(pool, { session_id: id });
  expect(await failureOf(cell(id, { code: 'show' }))).toMatchObject({ status: 404 });
  const again = await client.browserPools.acquire('shop', {});
  expect(again.session_id).toBe(id);
  expect((await cell(again.session_id, { code: 'show' })).repl_id).toBe('repl0');
});

test('a browser that is given back without reuse is ended', async () => {
  const { pool, id } = await acquired();
  await client.browserPools.release(pool, { session_id: id, reuse: false });
  expect(browsers.sessions[0].disposed).toBe(true);
  const again = await client.browserPools.acquire(pool, {});
  expect((await cell(again.session_id, { code: 'show' })).repl_id).toBe('repl1');
});

test('where no browser is free in time the answer has status 204 and no session', async () => {
  const { pool } = await acquired();
  const { data, response } = await client.browserPools.acquire(pool, { acquire_timeout_seconds: 0.01 }).withResponse();
  expect([response.status, (data as { session_id?: string } | null)?.session_id]).toEqual([204, undefined]);
});

test('flushing ends the browsers that nobody has', async () => {
  const { pool } = await acquired(2);
  await client.browserPools.flush(pool);
  expect(browsers.sessions.filter(({ disposed }) => disposed).length).toBe(1);
});

test('a pool whose browsers are in use is deleted by force only', async () => {
  const { pool, id } = await acquired();
  expect(await failureOf(client.browserPools.delete(pool))).toMatchObject({ status: 409 });
  await client.browserPools.delete(pool, { force: true });
  expect(await failureOf(cell(id, { code: 'show' }))).toMatchObject({ status: 404 });
  expect(browsers.sessions[0].disposed).toBe(true);
});

test('a browser beside the pools: made by name, shown, ended', async () => {
  const made = await client.browsers.create({ viewport: { width: 800, height: 600 }, timeout_seconds: 10 });
  expect(browsers.sessions[0].options.viewport).toEqual({ width: 800, height: 600 });
  expect(await client.browsers.retrieve(made.session_id)).toEqual(made);
  expect(made).toMatchObject({ headless: true, stealth: false, timeout_seconds: 10 });
  await client.browsers.deleteByID(made.session_id);
  expect(browsers.sessions[0].disposed).toBe(true);
});

test('a picture, and a part of one', async () => {
  const { id } = await acquired();
  const response = await client.browsers.computer.captureScreenshot(id);
  expect(response.headers.get('content-type')).toBe('image/png');
  expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG);
  const part = await client.browsers.computer.captureScreenshot(id, { region: { x: 0, y: 0, width: 1, height: 1 } });
  expect(Buffer.from(await part.arrayBuffer()).readUInt32BE(16)).toBe(1);
  const beyond = { region: { x: 1, y: 0, width: 1, height: 1 } };
  expect(await failureOf(client.browsers.computer.captureScreenshot(id, beyond))).toMatchObject({ status: 400 });
  browsers.sessions[0].picture = undefined;
  expect(await failureOf(client.browsers.computer.captureScreenshot(id))).toMatchObject({ status: 500 });
});

test('a cell that fails is an answer with status 200', async () => {
  const { id } = await acquired();
  expect(await cell(id, { code: 'throw no such thing' })).toMatchObject({ success: false, error: 'no such thing' });
});

test.each([
  ['an unknown field', { code: '1', speed: 2 }, 'speed'],
  ['no code', { reset: true }, 'code'],
  ['too long a time', { code: '1', timeout_sec: 301 }, 'timeout_sec'],
  ['no time', { code: '1', timeout_sec: 0 }, 'timeout_sec'],
  ['half a second', { code: '1', timeout_sec: 1.5 }, 'timeout_sec'],
  ['code that is no text', { code: 1 }, 'code'],
])('a cell with %s is refused with status 400, and nothing runs', async (_, body, named) => {
  const { id } = await acquired();
  const { status, message } = await failureOf(cell(id, body));
  expect([status, message.includes(named)]).toEqual([400, true]);
  expect(browsers.sessions[0].cells).toEqual([]);
});

test('a body beyond 8 MiB is refused with status 413', async () => {
  const { id } = await acquired();
  expect(await failureOf(cell(id, { code: 'x'.repeat(8 * 1024 * 1024) }))).toMatchObject({ status: 413 });
});

test('a body whose length is not told is cut off at the same limit', async () => {
  const { pool } = await acquired();
  const chunked = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  expect(await statusOf(`/browser_pools/${pool}/acquire`, chunked, ' '.repeat(9 * 1024 * 1024))).toBe(413);
});

test.each([
  [{ size: 0 }, 'size'],
  [{ size: 1, colour: 'red' }, 'colour'],
  [{ size: 1, profile: { name: 'mine' } }, 'profile'],
  [{ size: 1, timeout_seconds: 5 }, 'timeout_seconds'],
  [{ size: 1, start_url: 'file:///etc/passwd' }, 'start_url'],
])('a pool as %j is refused with status 400', async (body, named) => {
  const { status, message } = await failureOf(client.post('/browser_pools', { body }));
  expect([status, message.includes(named)]).toEqual([400, true]);
});

test('names are taken once, and there are no more browsers than the machine is to have', async () => {
  await client.browserPools.create({ size: 10, name: 'shop' });
  expect(await failureOf(client.browserPools.create({ size: 1, name: 'shop' }))).toMatchObject({ status: 409 });
  expect(await failureOf(client.browserPools.create({ size: 7 }))).toMatchObject({ status: 429 });
  await client.browserPools.create({ size: 6 });
  expect(await failureOf(client.browsers.create({}))).toMatchObject({ status: 429 });
});

test('calls with one idempotency key run once', async () => {
  const { id } = await acquired();
  const headers = { 'Idempotency-Key': 'a' };
  const both = await Promise.all([cell(id, { code: 'show 1' }, headers), cell(id, { code: 'show 1' }, headers)]);
  expect(both[0]).toEqual(both[1]);
  await cell(id, { code: 'show 1' }, { 'Idempotency-Key': 'b' });
  expect(browsers.sessions[0].cells).toEqual(['show 1', 'show 1']);
});

test('a caller who hangs up ends the cell', async () => {
  const { id } = await acquired();
  const leaving = new AbortController();
  const running = client.post(`/browsers/${id}/repl`, { body: { code: 'hang' }, signal: leaving.signal });
  const gone = expect(running).rejects.toThrow('aborted');
  while (browsers.sessions[0].cells.length === 0) await new Promise((resolve) => setImmediate(resolve));
  leaving.abort();
  await gone;
  await client.browsers.deleteByID(id);
  expect(failures).toEqual([]);
});

test('a fault of the server is told without its inside, and to its owner in full', async () => {
  const { id } = await acquired();
  const { status, message } = await failureOf(cell(id, { code: 'stack' }));
  expect([status, message.includes('secret'), message.includes('.ts')]).toEqual([500, false, false]);
  expect(String(failures[0])).toContain('secret of the inside');
});

test('what is not served here has status 404 and says so', async () => {
  const { status, message } = await failureOf(client.post('/browsers/x/process/exec', { body: {} }));
  expect([status, message.includes('POST /browsers/x/process/exec')]).toEqual([404, true]);
});

test('with a token, nobody gets in without it', async () => {
  await using guarded = await serve({ token: 'secret-token' });
  const [wrong, right] = ['secret', 'secret-token'].map(
    (apiKey) => new Kernel({ apiKey, baseURL: guarded.url, maxRetries: 0 }),
  );
  expect(await failureOf(wrong.browserPools.create({ size: 1 }))).toMatchObject({ status: 401 });
  expect((await right.browserPools.create({ size: 1 })).browser_pool_config.size).toBe(1);
});

test.each([
  ['a web page', { origin: 'https://evil.example', 'content-type': 'application/json' }, 403],
  ['another name for this machine', { host: 'evil.example', 'content-type': 'application/json' }, 403],
  ['a form', { 'content-type': 'text/plain' }, 415],
])('without a token, %s is refused', async (_, headers, status) => {
  const { pool } = await acquired();
  expect(await statusOf(`/browser_pools/${pool}/acquire`, headers, '{}')).toBe(status);
});

test('beyond loopback it does not listen without a token', async () => {
  const listening = serveKernel({ openSession: browsers.open, host: '0.0.0.0', port: 0, onFailure: () => undefined });
  await expect(listening).rejects.toMatchObject({ boundary: 'config', code: 'token-needed' });
});

test('a port that is taken is told as such', async () => {
  const port = Number(new URL(server.url).port);
  const second = serveKernel({ openSession: browsers.open, port, onFailure: () => undefined });
  await expect(second).rejects.toMatchObject({ boundary: 'config', code: 'cannot-listen' });
});

test('shutting down ends every browser and answers whoever waits', async () => {
  const { pool, id } = await acquired();
  const waiting = failureOf(client.browserPools.acquire(pool, {}));
  const running = failureOf(cell(id, { code: 'hang' }));
  while (browsers.sessions[0].cells.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await server[Symbol.asyncDispose]();
  expect([(await waiting).status, (await running).status]).toEqual([503, 503]);
  expect(browsers.sessions.map(({ disposed }) => disposed)).toEqual([true]);
  server = await serve();
});
