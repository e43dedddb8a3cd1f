// What an account asks beside training: sessions that are looked for, copies of checkpoints, room that they take, further
// clients of a sampler; and what a server of one machine has not, said in words.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADAM, crossEntropy, supervised, type JsonBody, type RawClient } from './tinker-client.ts';
import { serveTabular, type ServerUnderTest } from './tinker-server.ts';

const ROW = supervised([1, 3, 5, 7]);

let folder: string;
let server: ServerUnderTest;
let client: RawClient;
let session: string;
let model: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-account-'));
  server = await serveTabular({ folder, limits: { longPollMs: 50 } });
  client = server.client;
  session = await client.session();
  model = await client.model(session);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
  expect(server.failures).toEqual([]);
});

async function saved(path: string, seqId: number): Promise<string> {
  const body = { model_id: model, seq_id: seqId, path };
  return (await client.result(await client.submit('save_weights', body)))['path'] as string;
}

async function trained(seqId: number): Promise<void> {
  await client.output(await client.pass(crossEntropy(model, seqId, [ROW])));
  await client.result(await client.submit('optim_step', { model_id: model, seq_id: seqId + 1, adam_params: ADAM }));
}

async function lossOf(path: string, sequence: number): Promise<number> {
  const body = { session_id: session, model_seq_id: sequence, path, optimizer: false };
  const { model_id } = await client.result(await client.submit('load_weights', body));
  const pass = { ...crossEntropy(model_id as string, 1, [ROW]), forwardOnly: true };
  return (await client.output(await client.pass(pass))).metrics['loss:sum'];
}

const found = async (search: JsonBody): Promise<readonly unknown[]> => {
  const { sessions } = await client.ok('sessions/search', search);
  return (sessions as JsonBody[]).map(({ session_id }) => session_id);
};

test('sessions are found by words of their name, notes, project and how they ended', async () => {
  const named = { tags: [], user_metadata: { recipe: 'rl' }, sdk_version: '0.38.0', display_name: 'Red Fox run' };
  const fox = (await client.ok('create_session', named))['session_id'] as string;
  await client.send('PUT', `sessions/${fox}/project`, { project_id: 'p' });
  await client.ok(`sessions/${fox}/finish`, { reason: { type: 'errored' }, detail: 'out of luck' });
  const own = { owner: { type: 'own' } };
  expect(await found(own)).toEqual([fox, session]);
  expect(await found({ ...own, display_name: 'run FOX' })).toEqual([fox]);
  expect(await found({ ...own, display_name: 'fox hound' })).toEqual([]);
  expect(await found({ ...own, display_name: 'fox', session_id: session })).toEqual([fox, session]);
  expect(await found({ ...own, user_metadata: { recipe: 'rl' } })).toEqual([fox]);
  expect(await found({ ...own, project_ids: ['p'] })).toEqual([fox]);
  expect(await found({ ...own, statuses: [{ type: 'active' }] })).toEqual([session]);
  expect(await found({ ...own, statuses: [{ type: 'client_finished', reasons: ['success'] }] })).toEqual([]);
  const errored = { ...own, statuses: [{ type: 'client_finished', reasons: ['errored'] }], limit: 1 };
  expect(await client.ok('sessions/search', errored)).toEqual({
    sessions: [
      {
        session_id: fox,
        created_at: expect.any(String) as string,
        owner: 'local',
        project_id: 'p',
        status: { type: 'client_finished', reason: { type: 'errored' }, detail: 'out of luck' },
        checkpoints_count: 0,
        checkpoint_storage_bytes: 0,
        display_name: 'Red Fox run',
        user_metadata: { recipe: 'rl' },
      },
    ],
  });
  const first = await client.ok('sessions/search', { ...own, limit: 1 });
  expect(await found({ ...own, limit: 1, cursor: first['next_cursor'] })).toEqual([session]);
});

test('a session that was lost is neither active nor finished', async () => {
  await using brief = await serveTabular({ limits: { sessionTimeoutMs: 200 } });
  const id = await brief.client.session();
  const status = async (): Promise<unknown> => {
    const { sessions } = await brief.client.ok('sessions/search', { session_id: id });
    return (sessions as JsonBody[])[0]['status'];
  };
  expect(await status()).toEqual({ type: 'active' });
  await expect.poll(status, { timeout: 5_000 }).toBeNull();
});

test('a copy is a checkpoint of its own, in the run that a session says or in a project', async () => {
  await trained(1);
  const path = await saved('a', 3);
  const expected = await lossOf(path, 40);
  const asked = { source_path: path, session_id: session, model_seq_id: 7, ttl_seconds: 3600 };
  const copy = (await client.ok('copy_weights', asked))['tinker_path'] as string;
  expect(copy).toBe(`tinker://${session}:train:7/weights/a`);
  const inProject = { source_path: path, destination_project_id: 'p' };
  const key = { 'X-Idempotency-Key': '0d3b9d2e-5d5c-4a06-8f0e-1a2b3c4d5e6f' };
  const other = (await client.ok('copy_weights', inProject, key))['tinker_path'] as string;
  expect((await client.ok('copy_weights', inProject, key))['tinker_path']).toBe(other);
  expect(await client.get('training_runs?project_id=p')).toMatchObject({
    training_runs: [{ base_model: 'tiny', lora_rank: 4, last_checkpoint: { tinker_path: other } }],
    cursor: { total_count: 1 },
  });
  const [record] = (await client.get(`training_runs/${session}:train:7/checkpoints`))['checkpoints'] as JsonBody[];
  expect(Date.parse(record['expires_at'] as string) - Date.now()).toBeGreaterThan(3_500_000);
  // The source goes, its copies stay.
  await trained(4);
  await client.result(await client.submit('save_weights', { model_id: model, seq_id: 6, path: 'a', overwrite: true }));
  await client.send('DELETE', `training_runs/${model}/checkpoints/weights/a`);
  expect(await lossOf(copy, 41)).toBeCloseTo(expected, 6);
  expect(await lossOf(other, 42)).toBeCloseTo(expected, 6);
  const before = await readdir(join(folder, 'runs'));
  await server[Symbol.asyncDispose]();
  server = await serveTabular({ folder, limits: { longPollMs: 50 } });
  client = server.client;
  expect(await client.get('training_runs?project_id=p')).toMatchObject({ cursor: { total_count: 1 } });
  expect(await readdir(join(folder, 'runs'))).toEqual(before);
});

test.each<[JsonBody, number, RegExp]>([
  [{ source_path: 'tinker://x/weights/none', destination_project_id: 'p' }, 404, /no checkpoint/],
  [{ source_path: 'nonsense', destination_project_id: 'p' }, 400, /is none of tinker:/],
  [{}, 400, /destination_project_id, or session_id and model_seq_id/],
  [{ model_seq_id: 3 }, 400, /destination_project_id, or session_id and model_seq_id/],
  [{ destination_project_id: 'p', ttl_seconds: 0 }, 400, /ttl_seconds is 0/],
  [{ session_id: 'nobody', model_seq_id: 3 }, 404, /no session/],
])('a copy by %j is refused', async (body, status, message) => {
  const source_path = await saved('a', 1);
  const reply = await client.post('copy_weights', { source_path, ...body });
  expect([reply.status, message.test(reply.body['error'] as string)], String(reply.body['error'])).toEqual([
    status,
    true,
  ]);
});

test('a copy into a run of another kind is refused', async () => {
  const source_path = await saved('a', 1);
  const other = await client.model(session, { model_seq_id: 9, lora_config: { rank: 8 } });
  const reply = await client.post('copy_weights', { source_path, session_id: session, model_seq_id: 9 });
  expect([reply.status, reply.body['error']]).toEqual([400, expect.stringContaining(other) as string]);
});

test('further clients of a sampler get blocks of numbers of their own', async () => {
  const body = { session_id: session, sampling_session_seq_id: 0, base_model: 'tiny' };
  const id = (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
  const joins = await Promise.all([1, 2].map(() => client.ok('join_sampling_session', { sampling_session_id: id })));
  expect(joins.map(({ client_counter }) => client_counter).sort()).toEqual([1, 2]);
  expect((await client.post('join_sampling_session', { sampling_session_id: `${session}:sample:9` })).status).toBe(404);
});

test('the room that checkpoints take is told by project', async () => {
  expect(await client.get('billing/usage/checkpoints/current')).toMatchObject({ data: [] });
  const source_path = await saved('a', 1);
  await client.ok('copy_weights', { source_path, destination_project_id: 'p' });
  const { data } = await client.get('billing/usage/checkpoints/current');
  expect((data as JsonBody[]).map(({ project_id, checkpoint_count }) => [project_id, checkpoint_count])).toEqual([
    ['local', 1],
    ['p', 1],
  ]);
  const one = await client.get('billing/usage/checkpoints/current?project_id=p');
  expect(one).toMatchObject({ data: [{ project_id: 'p', checkpoint_count: 1 }] });
});

test('what this server has not is said in words', async () => {
  const words = async (method: string, path: string): Promise<unknown> => {
    const { status, body } = await client.send(method, path, method === 'POST' ? {} : undefined);
    return [status, body['error']];
  };
  expect(await words('GET', 'audit?event_type=all')).toEqual([404, 'No audit log is kept here.']);
  expect(await words('GET', 'billing/usage/events')).toEqual([404, expect.stringMatching(/Nothing is billed/)]);
  expect(await words('POST', 'create_custom_loss')).toEqual([400, expect.stringMatching(/importance_sampling/)]);
  expect(await words('GET', 'sessions/nobody/trace_export')).toEqual([404, expect.stringMatching(/no session/)]);
  expect(await client.get(`sessions/${session}/trace_export`)).toMatchObject({ status: 'failed' });
});
