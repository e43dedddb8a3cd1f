// Checkpoints by Tinker's API: saved, listed, kept, published, deleted, gone on from, and still there after a restart.

import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADAM, crossEntropy, sampleBody, supervised, type JsonBody, type RawClient } from './tinker-client.ts';
import { serveTabular, type ServerUnderTest } from './tinker-server.ts';

const ROW = supervised([1, 3, 5, 7]);

let folder: string;
let server: ServerUnderTest;
let client: RawClient;
let session: string;
let model: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-serve-'));
  server = await serveTabular({ folder, limits: { longPollMs: 50 } });
  client = server.client;
  session = await client.session();
  model = await client.model(session, { user_metadata: { renderer_name: 'role_colon' } });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
  expect(server.failures).toEqual([]);
});

const ask = (path: string, seqId: number, body: JsonBody): Promise<string> =>
  client.submit(path, { model_id: model, seq_id: seqId, ...body });
const save = async (seqId: number, path: string, body: JsonBody = {}): Promise<string> =>
  (await client.result(await ask('save_weights', seqId, { path, overwrite: false, ...body })))['path'] as string;
const saveSampler = async (seqId: number, path: string): Promise<string> =>
  (await client.result(await ask('save_weights_for_sampler', seqId, { path, kind: 'snapshot' })))['path'] as string;

async function train(id: string, seqId: number): Promise<void> {
  await client.output(await client.pass(crossEntropy(id, seqId, [ROW])));
  await client.result(await client.submit('optim_step', { model_id: id, seq_id: seqId + 1, adam_params: ADAM }));
}
const loss = async (id: string, seqId: number): Promise<number> =>
  (await client.output(await client.pass({ ...crossEntropy(id, seqId, [ROW]), forwardOnly: true }))).metrics[
    'loss:sum'
  ];

test('paths have three parts, and a name saved again with the same weights is the same checkpoint', async () => {
  const path = await save(1, '000010');
  expect(path).toBe(`tinker://${model}/weights/000010`);
  const [before] = (await client.get(`training_runs/${model}/checkpoints`))['checkpoints'] as JsonBody[];
  expect(await save(2, '000010')).toBe(path);
  expect((await client.get(`training_runs/${model}/checkpoints`))['checkpoints']).toEqual([before]);
  expect(await saveSampler(3, '000010')).toBe(`tinker://${model}/sampler_weights/000010`);
});

test('a name saved again with the same weights takes over what is said of its time and notes', async () => {
  const path = await save(1, 'a', { ttl_seconds: 60 });
  expect(await save(2, 'a', { user_metadata: { note: 'kept' } })).toBe(path);
  const [record] = (await client.get(`training_runs/${model}/checkpoints`))['checkpoints'] as JsonBody[];
  expect(record).toMatchObject({ user_metadata: { note: 'kept' } });
  expect(record['expires_at'] ?? null).toBeNull();
  expect(await restored(path, false)).toBeCloseTo(await loss(model, 3), 6);
});

test('what a killed server had made for downloads is gone when the next one starts', async () => {
  await mkdir(join(folder, 'exports', 'left-over'), { recursive: true });
  await server[Symbol.asyncDispose]();
  server = await serveTabular({ folder, limits: { longPollMs: 50 } });
  expect(await readdir(folder)).not.toContain('exports');
});

test('a name with other weights is refused as data, or overwritten where that is asked for', async () => {
  await save(1, 'a');
  await train(model, 2);
  const refused = await client.failure(await ask('save_weights', 4, { path: 'a', overwrite: false }));
  expect(refused).toEqual({
    error: expect.stringMatching(/exists with other weights.*overwrite=true/) as string,
    category: 'user',
  });
  const path = await save(5, 'a', { overwrite: true });
  expect(await restored(path, false)).toBeCloseTo(await loss(model, 6), 6);
});

test.each(['', '../x', 'a/b', '.hidden', 'x'.repeat(200)])('the name %j is refused', async (path) => {
  const { error, category } = await client.failure(await ask('save_weights', 1, { path }));
  expect([category, /is no name of a checkpoint/.test(error)]).toEqual(['user', true]);
});

let next = 1;
async function restored(path: string, optimizer: boolean): Promise<number> {
  const body = { session_id: session, model_seq_id: next++, path, optimizer, type: 'load_weights' };
  const result = await client.result(await client.submit('load_weights', body));
  expect(result).toEqual({ type: 'load_weights', model_id: `${session}:train:${next - 1}`, path });
  return loss(`${session}:train:${next - 1}`, 1);
}

test('a model made by loading has the weights, the settings, and numbers from 1 on', async () => {
  await train(model, 1);
  const path = await save(3, 'a');
  const here = await loss(model, 4);
  expect(await restored(path, true)).toBe(here);
  const id = `${session}:train:${next - 1}`;
  expect(await client.ok('get_info', { model_id: id })).toMatchObject({
    is_lora: true,
    lora_rank: 4,
    model_name: 'tiny',
  });
  await train(model, 5);
  await train(id, 2);
  expect(await loss(id, 4)).toBe(await loss(model, 7));
});

test('weights are loaded into a model that has been used already', async () => {
  const path = await save(1, 'a');
  const before = await loss(model, 2);
  await train(model, 3);
  await client.result(await ask('load_weights', 5, { path, optimizer: true }));
  expect(await loss(model, 6)).toBe(before);
  expect(server.backend.open).toBe(1);
});

test.each<[JsonBody, RegExp]>([
  [{ path: 'tinker://x/weights/none' }, /does not exist/],
  [{ path: 'nonsense' }, /is none of tinker:/],
  [{ path: 'tinker://x/sampler_weights/none' }, /holds no optimiser state/],
])('loading %j fails as data', async (body, message) => {
  const asked = { session_id: session, model_seq_id: 5, optimizer: false, ...body };
  const { error, category } = await client.failure(await client.submit('load_weights', asked));
  expect([category, message.test(error)], error).toEqual(['user', true]);
});

test('runs and checkpoints are listed, with what was said of them', async () => {
  await save(1, 'a', { user_metadata: { note: 'first' } });
  await saveSampler(2, 'b');
  const run = {
    training_run_id: model,
    base_model: 'tiny',
    is_lora: true,
    lora_rank: 4,
    corrupted: false,
    user_metadata: { renderer_name: 'role_colon' },
    last_checkpoint: { checkpoint_id: 'weights/a', checkpoint_type: 'training', user_metadata: { note: 'first' } },
    last_sampler_checkpoint: { checkpoint_id: 'sampler_weights/b', checkpoint_type: 'sampler', public: false },
  };
  expect(await client.get(`training_runs/${model}?access_scope=owned`)).toMatchObject(run);
  expect(await client.get('training_runs?limit=1&offset=0')).toMatchObject({
    training_runs: [run],
    cursor: { offset: 0, limit: 1, total_count: 1 },
  });
  const all = await client.get('checkpoints?limit=100&offset=0');
  expect((all['checkpoints'] as JsonBody[]).map(({ tinker_path }) => tinker_path).sort()).toEqual([
    `tinker://${model}/sampler_weights/b`,
    `tinker://${model}/weights/a`,
  ]);
  expect(await client.get('sessions')).toEqual({ sessions: [session] });
  expect(await client.get(`sessions/${session}`)).toMatchObject({ training_run_ids: [model], sampler_ids: [] });
  expect(await client.ok('weights_info', { tinker_path: `tinker://${model}/weights/a` })).toMatchObject({
    base_model: 'tiny',
    is_lora: true,
    lora_rank: 4,
    train_mlp: true,
  });
});

test('a checkpoint is published, unpublished, deleted, and then unknown', async () => {
  await save(1, 'a');
  const at = `training_runs/${model}/checkpoints/weights/a`;
  const isPublic = async (): Promise<unknown> =>
    ((await client.get(`training_runs/${model}/checkpoints`))['checkpoints'] as JsonBody[])[0]['public'];
  expect((await client.post(`${at}/publish`)).status).toBe(200);
  expect(await isPublic()).toBe(true);
  expect((await client.send('DELETE', `${at}/publish`)).status).toBe(204);
  expect(await isPublic()).toBe(false);
  expect((await client.send('DELETE', at)).status).toBe(204);
  expect((await client.send('DELETE', at)).status).toBe(404);
  expect(await client.get(`training_runs/${model}/checkpoints`)).toEqual({ checkpoints: [] });
});

test('a checkpoint whose time is up is gone; the time can be changed', async () => {
  await save(1, 'a', { ttl_seconds: 3600 });
  const at = `training_runs/${model}/checkpoints/weights/a`;
  const expiry = async (): Promise<unknown> =>
    ((await client.get(`training_runs/${model}/checkpoints`))['checkpoints'] as JsonBody[])[0]['expires_at'];
  expect(Date.parse((await expiry()) as string) - Date.now()).toBeGreaterThan(3_500_000);
  expect((await client.send('PUT', `${at}/ttl`, { ttl_seconds: null })).status).toBe(200);
  expect(await expiry()).toBeNull();
  expect((await client.send('PUT', `${at}/ttl`, { ttl_seconds: 0 })).status).toBe(400);
  expect((await client.send('PUT', `${at}/ttl`, { ttl_seconds: 1 })).status).toBe(200);
  await expect
    .poll(async () => (await client.get(`training_runs/${model}/checkpoints`))['checkpoints'], { timeout: 5_000 })
    .toEqual([]);
  expect((await client.post('weights_info', { tinker_path: `tinker://${model}/weights/a` })).status).toBe(404);
});

test('what was saved is there after a restart, and what was half-written is not', async () => {
  const path = await saveSampler(1, 'a');
  await server[Symbol.asyncDispose]();
  const runs = join(folder, 'runs');
  const [run] = await readdir(runs);
  const kind = join(runs, run, 'sampler_weights');
  const { writeFile, mkdir } = await import('node:fs/promises');
  await mkdir(join(kind, 'b.0badcafe'));
  await writeFile(join(kind, 'b.0badcafe', 'model.safetensors'), 'half');
  server = await serveTabular({ folder, limits: { longPollMs: 50 } });
  client = server.client;
  expect((await client.get('training_runs'))['cursor']).toMatchObject({ total_count: 1 });
  expect(await client.get(`training_runs/${model}/checkpoints`)).toMatchObject({
    checkpoints: [{ tinker_path: path }],
  });
  expect((await readdir(kind)).filter((name) => name.startsWith('b.'))).toEqual([]);
});

test('saved weights are sampled from by their path, by several samplers at once', async () => {
  await train(model, 1);
  const path = await saveSampler(3, 'a');
  const other = await client.model(session, { model_seq_id: 40 });
  const create = async (sequence: number, model_path: string): Promise<string> => {
    const body = { session_id: session, sampling_session_seq_id: sequence, model_path };
    return (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
  };
  const otherPath = `tinker://${other}/sampler_weights/x`;
  const saved = { model_id: other, seq_id: 1, path: 'x' };
  expect((await client.result(await client.submit('save_weights_for_sampler', saved)))['path']).toBe(otherPath);
  const ids = [await create(0, path), await create(1, otherPath)];
  expect(await client.get(`samplers/${ids[0]}`)).toEqual({ sampler_id: ids[0], base_model: 'tiny', model_path: path });
  const [trainedScores, untrained] = await Promise.all(
    ids.map(async (id) => {
      const prompt = { chunks: [{ type: 'encoded_text', tokens: [1, 3, 5, 7] }] };
      const asked = await client.submit('asample', sampleBody(id, 0, { prompt, prompt_logprobs: true }));
      return [...(await client.samples(asked)).promptLogprobs!].slice(1).reduce((sum, value) => sum + value, 0);
    }),
  );
  expect(trainedScores).toBeGreaterThan(untrained + 0.2);
  expect(-trainedScores).toBeCloseTo(await loss(model, 4), 4);
});

test('a sampler of a path whose weights are gone fails as data and says so; one that was asked before keeps its own', async () => {
  const path = await saveSampler(1, 'a');
  const create = async (sequence: number): Promise<string> => {
    const body = { session_id: session, sampling_session_seq_id: sequence, model_path: path };
    return (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
  };
  const [used, unused] = [await create(0), await create(1)];
  const scores = async (id: string, seqId: number): Promise<number[]> => {
    const asked = await client.submit('asample', sampleBody(id, seqId, { prompt_logprobs: true }));
    return [...(await client.samples(asked)).promptLogprobs!].slice(1);
  };
  const before = await scores(used, 0);
  await train(model, 2);
  expect(await saveSampler(4, 'a')).toBe(path);
  expect(await scores(used, 1)).toEqual(before);
  expect((await scores(await create(2), 0))[0]).not.toBe(before[0]);
  // Room for open samplers is little: the first is closed, and its weights are nowhere any more.
  for (const [i, name] of ['b', 'c', 'd', 'e'].entries()) {
    const other = await saveSampler(5 + i, name);
    const body = { session_id: session, sampling_session_seq_id: 10 + i, model_path: other };
    await scores((await client.ok('create_sampling_session', body))['sampling_session_id'] as string, 0);
  }
  for (const id of [used, unused]) {
    const failure = await client.failure(await client.submit('asample', sampleBody(id, 9)));
    expect([failure.category, failure.error]).toEqual([
      'user',
      expect.stringMatching(/sampler_weights\/a .* saved anew/),
    ]);
  }
});

test('adapters that have no PEFT form are refused with the reason', async () => {
  await saveSampler(1, 'a');
  const archive = await client.send('GET', `training_runs/${model}/checkpoints/sampler_weights/a/archive`);
  expect([archive.status, archive.body['error']]).toEqual([400, expect.stringMatching(/no PEFT form/) as string]);
  const external = await client.failure(await ask('save_weights_external', 2, { path: 'a' }));
  expect(external).toEqual({ error: expect.stringMatching(/no PEFT form/) as string, category: 'user' });
});
