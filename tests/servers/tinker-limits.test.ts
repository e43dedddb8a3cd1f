// What the server stands: clients that vanish, polls by the thousand, bodies that are too large or no bodies at all.

import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { encodeForwardBackwardRequest } from '../../src/tinker/index.ts';
import { serveTinker } from '../../src/server/index.ts';
import { residentBytes, serveApart } from './serve-apart.ts';
import { createTabularBackend } from './tabular-backend.ts';
import { crossEntropy, PROTO, RawClient, sampleBody, supervised } from './tinker-client.ts';
import { serveTabular, type ServerUnderTest } from './tinker-server.ts';
import { zstdBomb } from './zstd-frame.ts';

const ROW = supervised([1, 3, 5, 7]);
const MAX_BODY = 256 * 1024;

let server: ServerUnderTest;
let client: RawClient;
let session: string;
let model: string;

beforeEach(async () => {
  server = await serveTabular({ limits: { maxBodyBytes: MAX_BODY } });
  client = server.client;
  session = await client.session();
  model = await client.model(session);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  expect(server.failures).toEqual([]);
});

/** A number out of the metrics. */
async function metric(name: string, of: RawClient = client): Promise<number> {
  const { bytes } = await of.send('GET', '/metrics');
  const line = new TextDecoder()
    .decode(bytes)
    .split('\n')
    .find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

test('the hand-shake: settings, health, capabilities, telemetry, and JSON where nothing is', async () => {
  expect(await client.ok('client/config', { sdk_version: '0.38.0' })).toMatchObject({ pjwt_auth_enabled: false });
  expect(await client.ok('client/dynamic_config', { sdk_version: '0.38.0' })).toEqual({
    refresh_interval_sec: 300,
    sample_cancel_enabled: false,
  });
  expect(await client.get('healthz')).toEqual({ status: 'ok' });
  expect(await client.get('/healthz')).toEqual({ status: 'ok' });
  expect(await client.get('get_server_capabilities')).toMatchObject({
    supported_models: [{ model_name: 'tiny', max_context_length: 64 }, { model_name: 'Qwen/Qwen3-8B' }],
  });
  expect(await client.ok('telemetry', { events: [{ event: 'SESSION_START' }] })).toEqual({ status: 'accepted' });
  const unknown = await client.send('GET', 'nothing');
  expect([unknown.status, unknown.body['detail']]).toEqual([404, 'GET /api/v1/nothing is not served here.']);
});

test(
  'a session without heartbeats is closed: its models go, what waits fails, heartbeats are told',
  { timeout: 60_000 },
  async () => {
    await using brief = await serveTabular({ limits: { sessionTimeoutMs: 2_000, longPollMs: 5_000, gapMs: 60_000 } });
    const other = brief.client;
    const id = await other.session();
    const trained = await other.model(id);
    const waiting = await other.pass(crossEntropy(trained, 2, [ROW]));
    // Polling is a sign of life, so this one ends when the session does and not before.
    await expect.poll(() => metric('tabwright_sessions', other), { timeout: 30_000 }).toBe(0);
    expect(await other.failure(waiting)).toEqual({
      error: 'The session sent no heartbeat for 2 s, so it was closed.',
      category: 'server',
    });
    expect(brief.backend.open).toBe(0);
    expect((await other.post('session_heartbeat', { session_id: id })).status).toBe(410);
    expect((await other.post('get_info', { model_id: trained })).status).toBe(410);
    expect((await other.post('session_heartbeat', { session_id: 'never' })).status).toBe(404);
  },
);

test('heartbeats keep a session, and finishing ends it', async () => {
  expect(await client.ok('session_heartbeat', { session_id: session })).toEqual({ type: 'session_heartbeat' });
  await client.ok(`sessions/${session}/finish`, { reason: { type: 'success' }, detail: null });
  await expect.poll(() => server.backend.open).toBe(0);
  expect((await client.post('session_heartbeat', { session_id: session })).status).toBe(410);
  const found = await client.ok('sessions/search', { user_metadata: {}, owner: { type: 'own' }, limit: 10 });
  expect(found).toMatchObject({ sessions: [{ session_id: session, status: { type: 'client_finished' } }] });
});

test('where there is no room for another model, a session that has been silent makes some; one that beats does not', async () => {
  await using full = await serveTabular({ limits: { maxModels: 1, neededTimeoutMs: 300 } });
  const [silent, other] = [await full.client.session(), await full.client.session()];
  const model = await full.client.model(silent);
  let sequence = 0;
  const create = async (): Promise<unknown> => {
    const body = { session_id: other, model_seq_id: sequence++, base_model: 'tiny', lora_config: { rank: 4 } };
    const { body: result } = await full.client.poll(await full.client.submit('create_model', body));
    return result['error'] ?? result['model_id'];
  };
  expect(await create()).toMatch(/1 models are trained here already/);
  expect((await full.client.post('get_info', { model_id: model })).status).toBe(200);
  await expect.poll(create, { timeout: 20_000, interval: 100 }).toMatch(new RegExp(`^${other}:train:`));
  expect((await full.client.post('get_info', { model_id: model })).status).toBe(410);
  expect((await full.client.post('session_heartbeat', { session_id: other })).status).toBe(200);
});

test('a result is read as often as it is asked for; an unknown one tells clients what to do', async () => {
  const id = await client.pass(crossEntropy(model, 1, [ROW]));
  const first = await client.output(id);
  expect(await client.output(id)).toEqual(first);
  expect((await client.post('retrieve_future', { request_id: `${model}:7` })).status).toBe(404);
  expect((await client.post('retrieve_future', { request_id: `${session}:sample:0:7` })).status).toBe(410);
});

test('a result stays for its time after it was last read, and is forgotten then', async () => {
  await using brief = await serveTabular({ limits: { retainMs: 400 } });
  const id = await brief.client.model(await brief.client.session());
  const asked = await brief.client.pass(crossEntropy(id, 1, [ROW]));
  await brief.client.output(asked);
  await expect.poll(() => metric('tabwright_futures', brief.client), { timeout: 5_000 }).toBe(0);
  const again = await brief.client.post(
    'forward_backward',
    encodeForwardBackwardRequest(crossEntropy(id, 1, [ROW])),
    PROTO,
  );
  expect([again.status, again.body['error']]).toEqual([400, expect.stringMatching(/no longer kept/) as string]);
});

test('a poll whose caller hangs up is dropped, and the result is still there for the next', async () => {
  const waiting = await client.pass(crossEntropy(model, 2, [ROW]));
  const controller = new AbortController();
  const poll = client.send('POST', 'retrieve_future', { request_id: waiting }, { signal: controller.signal });
  await expect.poll(() => metric('tabwright_waiting_polls')).toBe(1);
  controller.abort();
  await expect(poll).rejects.toThrow();
  await expect.poll(() => metric('tabwright_waiting_polls')).toBe(0);
  await client.pass(crossEntropy(model, 1, [ROW]));
  expect((await client.output(waiting)).metrics).toHaveProperty('loss:sum');
});

test(
  'two thousand polls wait at once in little memory, heartbeats are answered meanwhile, and all get the result',
  { timeout: 500_000 },
  async () => {
    const { pid, url, stop } = await serveApart();
    try {
      const other = new RawClient(url);
      const id = await other.model(await other.session());
      const waiting = await other.pass(crossEntropy(id, 2, [ROW]));
      const before = await residentBytes(pid);
      const polls = Array.from({ length: 2_000 }, () => openPoll(url, waiting));
      await expect.poll(() => metric('tabwright_waiting_polls', other), { timeout: 400_000 }).toBe(2_000);
      const grown = (await residentBytes(pid)) - before;
      expect(grown).toBeLessThan(150 * 2 ** 20);
      const began = performance.now();
      expect((await other.post('session_heartbeat', { session_id: id.split(':')[0] })).status).toBe(200);
      // The SDK gives it ten seconds.
      expect(performance.now() - began).toBeLessThan(5_000);
      await other.pass(crossEntropy(id, 1, [ROW]));
      const types = await Promise.all(polls);
      expect(new Set(types)).toEqual(new Set(['application/x-protobuf']));
      await expect.poll(() => metric('tabwright_waiting_polls', other), { timeout: 20_000 }).toBe(0);
    } finally {
      await stop();
    }
  },
);

test('a body beyond the limit is refused with 413, its number counts as used where its beginning tells it', async () => {
  const large = encodeForwardBackwardRequest(
    crossEntropy(
      model,
      1,
      Array.from({ length: 4_000 }, () => ROW),
    ),
  );
  expect(large.length).toBeGreaterThan(MAX_BODY);
  const reply = await client.post('forward_backward', large, PROTO);
  expect([reply.status, reply.body['category']]).toEqual([413, 'user']);
  expect((await client.output(await client.pass(crossEntropy(model, 2, [ROW])))).metrics).toHaveProperty('loss:sum');
  expect((await client.post('telemetry', JSON.stringify({ x: 'x'.repeat(MAX_BODY) }))).status).toBe(413);
});

test('the same of JSON, which may also be broken off or be none: the model does not wait for what will not come', async () => {
  const numbered = (seqId: number, rest: string): string => `{"seq_id":${seqId},"model_id":"${model}",${rest}`;
  const broken = [
    ['forward_backward', numbered(1, `"x":"${'x'.repeat(MAX_BODY)}"}`), 413],
    ['optim_step', numbered(2, `"x":"${'x'.repeat(MAX_BODY)}"}`), 413],
    ['forward', numbered(3, '"forward_input":{"data":[NaN'), 400],
    ['save_weights', numbered(4, '"path":7}'), 400],
  ] as const;
  for (const [path, body, status] of broken) {
    expect((await client.post(path, body, { 'Content-Type': 'application/json' })).status).toBe(status);
  }
  expect((await client.output(await client.pass(crossEntropy(model, 5, [ROW])))).metrics).toHaveProperty('loss:sum');
});

test('work that does not end fails when its time is up: the sample alone, or the model that is trained', async () => {
  await using brief = await serveTabular({ limits: { jobMs: 200 } });
  let open = (): void => undefined;
  brief.backend.gate = new Promise((resolve) => (open = resolve));
  const id = await brief.client.session();
  const trained = await brief.client.model(id);
  const body = { session_id: id, sampling_session_seq_id: 0, base_model: 'tiny' };
  const sampler = (await brief.client.ok('create_sampling_session', body))['sampling_session_id'] as string;
  const sample = await brief.client.submit('asample', sampleBody(sampler, 0));
  const asked = await brief.client.pass(crossEntropy(trained, 1, [ROW]));
  expect(await brief.client.failure(sample)).toMatchObject({
    category: 'server',
    error: expect.stringMatching(/did not come within/) as string,
  });
  expect(await brief.client.failure(asked)).toMatchObject({
    category: 'server',
    error: expect.stringMatching(/so its model was unloaded/) as string,
  });
  expect((await brief.client.post('get_info', { model_id: trained })).status).toBe(404);
  open();
  await brief.client.samples(await brief.client.submit('asample', sampleBody(sampler, 1)));
  expect(brief.failures).toHaveLength(2);
});

test('a body whose length is not told is cut off at the same limit', async () => {
  const sent = httpRequest(`${server.server.url}/api/v1/telemetry`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
  });
  sent.on('error', () => undefined); // the server may hang up before it has all
  const answered = once(sent, 'response');
  sent.end(' '.repeat(4 * MAX_BODY));
  const [response] = (await answered) as [{ statusCode: number; resume(): void }];
  response.resume();
  expect(response.statusCode).toBe(413);
});

test('a few bytes that stand for gigabytes are not opened', async () => {
  const bomb = zstdBomb(2 ** 30);
  expect(bomb.length).toBeLessThan(64 * 1024);
  const reply = await client.post('forward_backward', bomb, { ...PROTO, 'Content-Encoding': 'zstd' });
  expect(reply.status).toBe(413);
});

test.each<[string, string | Uint8Array, Record<string, string>, number]>([
  ['text that is no JSON', '{"a":', {}, 400],
  ['NaN', '{"session_id":NaN}', {}, 400],
  ['JSON a thousand lists deep', '['.repeat(1_000) + ']'.repeat(1_000), {}, 413],
  ['zstd that is none', Uint8Array.of(1, 2, 3), { 'Content-Encoding': 'zstd' }, 400],
  ['gzip that is none', Uint8Array.of(1, 2, 3), { 'Content-Encoding': 'gzip' }, 400],
  ['another compression', Uint8Array.of(1, 2, 3), { 'Content-Encoding': 'br' }, 415],
])('%s is refused with JSON that says why', async (_, body, headers, status) => {
  const reply = await client.post('session_heartbeat', body, headers);
  expect([reply.status, typeof reply.body['error']]).toEqual([status, 'string']);
});

test('random bytes are never more than a refusal', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const bytes = Uint8Array.from({ length: 1 + ((seed * 37) % 200) }, (_, i) => (seed * 7919 + i * i * 31) % 256);
    const reply = await client.post('forward_backward', bytes, PROTO);
    expect([400, 404, 413]).toContain(reply.status);
  }
});

test('without a key: programs of this machine, no web page, no other name of the server', async () => {
  expect((await new RawClient(server.server.url, {}).post('client/config')).status).toBe(200);
  expect((await client.post('client/config', {}, { Origin: 'https://example.com' })).status).toBe(403);
  expect(await statusFor(server.server.url, { host: 'evil.example' })).toBe(403);
  expect(await statusFor(server.server.url, { host: 'localhost:80' })).toBe(200);
});

test('with a key: whoever sends it in either header; health and downloads need none', async () => {
  await using guarded = await serveTabular({ key: 'tml-secret' });
  type Sent = Record<string, string>;
  const status = async (headers: Sent): Promise<number> =>
    (await new RawClient(guarded.server.url, headers).post('client/config')).status;
  expect(
    await Promise.all(
      ([{}, { 'X-API-Key': 'tml-other' }, { Authorization: 'Bearer tml-other' }] as Sent[]).map(status),
    ),
  ).toEqual([401, 401, 401]);
  expect(
    await Promise.all(([{ 'X-API-Key': 'tml-secret' }, { Authorization: 'Bearer tml-secret' }] as Sent[]).map(status)),
  ).toEqual([200, 200]);
  const none = new RawClient(guarded.server.url, {});
  expect((await none.send('GET', '/healthz')).status).toBe(200);
  expect((await none.send('GET', '/metrics')).status).toBe(401);
  expect((await none.send('GET', 'downloads/guess')).status).toBe(404);
});

test('beyond loopback a key is needed', async () => {
  const models = [{ names: ['tiny'], backend: createTabularBackend(), endTokens: [] }];
  const options = { models, folder: server.folder, port: 0, onFailure: () => undefined };
  await expect(serveTinker({ ...options, host: '0.0.0.0' })).rejects.toMatchObject({ code: 'token-needed' });
});

test('metrics count what was done', async () => {
  await client.output(await client.pass(crossEntropy(model, 1, [ROW])));
  const { bytes, headers } = await client.send('GET', '/metrics');
  const text = new TextDecoder().decode(bytes);
  expect(headers.get('content-type')).toMatch(/^text\/plain/);
  expect(text).toContain('tabwright_futures_total{kind="forward_backward",outcome="finished"} 1');
  expect(text).toContain('tabwright_tokens_total{kind="trained"} 3');
  expect(text).toContain('tabwright_requests_total{route="/api/v1/forward_backward",status="200"} 1');
  expect(await metric('tabwright_models')).toBe(1);
});

test('shutting down answers the polls that wait, and lets nobody wait for ever', async () => {
  const ending = await serveTabular({});
  const id = await ending.client.model(await ending.client.session());
  const waiting = await ending.client.pass(crossEntropy(id, 2, [ROW]));
  const poll = ending.client.poll(waiting);
  await expect.poll(() => metric('tabwright_waiting_polls', ending.client)).toBe(1);
  const began = performance.now();
  await ending[Symbol.asyncDispose]();
  expect(performance.now() - began).toBeLessThan(5_000);
  expect((await poll).body).toEqual({ error: 'The server is shutting down.', category: 'server' });
});

test('a sample is cancelled', async () => {
  let open = (): void => undefined;
  server.backend.gate = new Promise((resolve) => (open = resolve));
  const body = { session_id: session, sampling_session_seq_id: 0, base_model: 'tiny' };
  const id = (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
  const asked = await client.submit('asample', sampleBody(id, 0));
  await client.ok('cancel_future', { request_id: asked });
  expect(await client.failure(asked)).toEqual({ error: 'The request was cancelled.', category: 'server' });
  open();
  await client.ok('cancel_future', { request_id: 'unknown' });
});

/** Status of `client/config` with these headers, which `fetch` would not send. */
function statusFor(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}/api/v1/client/config`, { method: 'POST', headers });
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject);
    sent.end('{}');
  });
}

/** A poll on a connection of its own; gives the type of its answer. */
function openPoll(url: string, requestId: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}/api/v1/retrieve_future`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', accept: 'application/x-protobuf' },
    });
    sent.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.headers['content-type']));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ request_id: requestId, allow_metadata_only: true }));
  });
}
