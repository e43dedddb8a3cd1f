// What the newest wire has beyond a training loop's needs, replayed over real HTTP: many results waited for at once, further
// clients of a sampler, other optimisers, what accounts and administrators ask. The last part is against our own server.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  encodeSampleResponse,
  floatTensor,
  intTensor,
  type SampleCall,
  type ServiceClient,
  type WireDatum,
} from '../../src/tinker/index.ts';
import { serveSmall, type Served } from './embedded-server.ts';
import { QUICK, scripted, type Answer, type Asked } from './scripted-server.ts';

const CALL: SampleCall = {
  prompt: [{ kind: 'text', tokens: Int32Array.of(1, 2, 3) }],
  numSamples: 1,
  params: { maxTokens: 2, seed: 5n, stop: { tokens: [] } },
};
const sampled = (token: number): Answer => ({
  protobuf: encodeSampleResponse({
    sequences: [{ stopReason: 'length', tokens: Int32Array.of(token), logprobs: Float32Array.of(-1) }],
    promptCacheHitTokens: 0,
  }),
});
/** A busy machine takes seconds for what takes none. */
const PATIENT = { pacing: { ...QUICK, pollMs: 30_000, resultMs: 60_000, retryBudgetMs: 60_000 } };
const accept = (): Answer => ({ json: { request_id: 'x' } });
const idOf = ({ body }: Asked): string => `r${body['seq_id'] as number}`;

describe('results of samples, waited for many at a time', () => {
  const TOGETHER = { 'client/config': () => ({ json: { sample_use_retrieve_futures: true } }) };

  it(
    'a result is fetched when it is said to be there, and that it was fetched is told',
    { timeout: 120_000 },
    async () => {
      const ended: string[] = [];
      const polls: Asked[] = [];
      await using server = await scripted({
        ...TOGETHER,
        asample: (asked) => ({ json: { request_id: idOf(asked) } }),
        retrieve_futures: async (asked) => {
          polls.push(asked);
          const from = asked.body['prev_cursor'] as number;
          if (asked.body['timeout'] !== 0) {
            await expect.poll(() => server.of('asample').length).toBe(3);
            // One after the other, the last one first; the third has failed.
            if (ended.length < 3) ended.push(['r1', 'r0', 'r2'][ended.length]);
          }
          const completions = ended.slice(from).map((request_id) => ({
            state: request_id === 'r2' ? 'failed' : 'finished',
            request_id,
          }));
          return { json: { completions, cursor: ended.length } };
        },
        retrieve_future: ({ body }) => {
          const id = body['request_id'] as string;
          if (id === 'r2') return { json: { error: 'no room', category: 'user' } };
          return sampled(Number(id.slice(1)));
        },
      });
      const sampler = await (await server.connect(PATIENT)).createSamplingClient({ baseModel: 'm' });
      const results = await Promise.allSettled([sampler.sample(CALL), sampler.sample(CALL), sampler.sample(CALL)]);
      const tokens = results.map((one) =>
        one.status === 'fulfilled' ? one.value.sequences[0].tokens[0] : (one.reason as Error),
      );
      expect(tokens).toEqual([0, 1, expect.objectContaining({ code: 'tinker-request-failed' })]);
      // One fetch each: nobody polled for what had not ended.
      expect(server.of('retrieve_future')).toHaveLength(3);
      expect(polls[0].body).toEqual({
        target: { type: 'sampling_session', sampling_session_id: 's1:sample:0', cloned_sampler_id: 0 },
        prev_cursor: 0,
        retrieved_request_ids: [],
      });
      expect(polls.map(({ body }) => body['prev_cursor'])).toEqual(expect.arrayContaining([0, 1, 2]));
      await expect
        .poll(() => polls.flatMap(({ body }) => body['retrieved_request_ids'] as string[]))
        .toEqual(expect.arrayContaining(['r1']));
    },
  );

  it('a server that does not know it after all is polled for each', async () => {
    const asample = (asked: Asked): Answer => ({ json: { request_id: idOf(asked) } });
    await using server = await scripted({ ...TOGETHER, asample, retrieve_future: () => sampled(4) });
    const sampler = await (await server.connect(PATIENT)).createSamplingClient({ baseModel: 'm' });
    await Promise.all([sampler.sample(CALL), sampler.sample(CALL)]);
    const asked = server.of('retrieve_futures').length;
    expect(asked).toBeGreaterThan(0);
    await sampler.sample(CALL);
    expect(server.of('retrieve_futures')).toHaveLength(asked);
    expect(server.of('retrieve_future')).toHaveLength(3);
  });

  it('trouble is passing, and whoever gives up leaves the others', async () => {
    let polls = 0;
    await using server = await scripted({
      ...TOGETHER,
      asample: (asked) => ({ json: { request_id: idOf(asked) } }),
      retrieve_futures: async () => {
        if (++polls === 1) return { status: 503, json: {} };
        await expect.poll(() => server.of('asample').length).toBe(2);
        return { json: { completions: [{ state: 'finished', request_id: 'r1' }], cursor: 1 } };
      },
      retrieve_future: () => sampled(9),
    });
    const sampler = await (await server.connect(PATIENT)).createSamplingClient({ baseModel: 'm' });
    const controller = new AbortController();
    const first = sampler.sample(CALL, { signal: controller.signal });
    const second = sampler.sample(CALL);
    expect((await second).sequences[0].tokens[0]).toBe(9);
    controller.abort();
    await expect(first).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.of('retrieve_future').map(({ body }) => body['request_id'])).toEqual(['r1']);
  });

  it('a wait has the time that a result has', async () => {
    await using server = await scripted({
      ...TOGETHER,
      asample: accept,
      retrieve_futures: () => ({ json: { completions: [], cursor: 0 } }),
    });
    const service = await server.connect({ pacing: { ...QUICK, resultMs: 150 } });
    const sampler = await service.createSamplingClient({ baseModel: 'm' });
    await expect(sampler.sample(CALL)).rejects.toMatchObject({ code: 'tinker-result-timeout' });
  });
});

describe('further clients of a sampler', () => {
  it('get their numbers from the server, asked once, where it gives them', async () => {
    await using server = await scripted({
      'client/config': () => ({ json: { sample_join_sampling_session: true } }),
      join_sampling_session: () => ({ json: { client_counter: 3 } }),
      asample: accept,
      retrieve_future: () => sampled(1),
    });
    const sampler = (await server.connect()).joinSamplingClient('s1:sample:0');
    await Promise.all([sampler.sample(CALL), sampler.sample(CALL)]);
    expect(server.of('join_sampling_session').map(({ body }) => body)).toEqual([
      { sampling_session_id: 's1:sample:0', type: 'join_sampling_session' },
    ]);
    expect(
      server
        .of('asample')
        .map(({ body }) => body['seq_id'])
        .sort(),
    ).toEqual([3_000_000_000, 3_000_000_001]);
  });

  it('take them by lot elsewhere, far from those of the first', async () => {
    await using server = await scripted({ asample: accept, retrieve_future: () => sampled(1) });
    const service = await server.connect();
    await service.joinSamplingClient('s1:sample:0').sample(CALL);
    await service.joinSamplingClient('s1:sample:0').sample(CALL);
    const numbers = server.of('asample').map(({ bytes }) => /"seq_id":(\d+)/.exec(new TextDecoder().decode(bytes))![1]);
    expect(new Set(numbers).size).toBe(2);
    for (const number of numbers) expect(BigInt(number) % 1_000_000_000n).toBe(0n);
    for (const number of numbers) expect(BigInt(number)).toBeGreaterThan(0n);
  });
});

it('another family of optimisers is chosen with the model, and its steps travel under their own key', async () => {
  await using server = await scripted({
    optim_step: accept,
    retrieve_future: ({ headers }) =>
      headers['x-tinker-request-type'] === 'CreateModel' ? { json: { model_id: 's1:train:0' } } : { json: {} },
  });
  const service = await server.connect();
  const optimizer = { type: 'dimuon', version: 1 };
  const model = await service.createTrainingClient({ baseModel: 'm', lora: { rank: 8 }, optimizer });
  const params = { type: 'dimuon', learning_rate: 0.02, grad_clip_norm: 1, beta1: 0.95 };
  await model.optimStep(params);
  expect(server.of('create_model')[0].body['optimizer_config']).toEqual(optimizer);
  expect(server.of('optim_step')[0].body).toEqual({
    model_id: 's1:train:0',
    seq_id: 1,
    type: 'optim_step',
    optimizer_params: params,
  });
});

it('chunks of images go out as they are, to training and to sampling', async () => {
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47);
  await using server = await scripted({
    asample: accept,
    forward_backward: () => ({ status: 422, json: { detail: 'no images' } }),
    retrieve_future: ({ headers }) =>
      headers['x-tinker-request-type'] === 'CreateModel' ? { json: { model_id: 's1:train:0' } } : sampled(1),
  });
  const service = await server.connect();
  const image = { kind: 'image', data: png, format: 'png', expectedTokens: 4 } as const;
  const text = { kind: 'text', tokens: Int32Array.of(1) } as const;
  const sampler = await service.createSamplingClient({ baseModel: 'm' });
  await sampler.sample({ ...CALL, prompt: [text, image] });
  expect(server.of('asample')[0].body['prompt']).toEqual({
    chunks: [
      { type: 'encoded_text', tokens: [1] },
      { type: 'image', data: Buffer.from(png).toString('base64'), format: 'png', expected_tokens: 4 },
    ],
  });
  const model = await service.createTrainingClient({ baseModel: 'm' });
  const datum: WireDatum = { modelInput: [text, image], lossInputs: { target_tokens: intTensor([1, 2, 3, 4, 5]) } };
  await expect(model.forwardBackward([datum], 'cross_entropy')).rejects.toThrow(/no images/);
  expect(Buffer.from(server.of('forward_backward')[0].bytes).includes(Buffer.from(png))).toBe(true);
});

describe('what accounts and administrators ask', () => {
  it('sessions by what is known of them, a page at a time; moved to a project', async () => {
    const found = { session_id: 'a', created_at: '2026-01-01T00:00:00Z', owner: 'me', project_id: 'p' };
    const cursor = { last_created_at: '2026-01-01T00:00:00Z', last_session_id: 'a' };
    await using server = await scripted({
      'sessions/search': [
        { json: { sessions: [{ ...found, checkpoints_count: 2, status: null }], next_cursor: cursor } },
        { json: { sessions: [] } },
      ],
      'sessions/a/project': accept,
    });
    const { rest } = await server.connect();
    const statuses = [{ type: 'client_finished', reasons: ['errored'] }];
    const page = await rest.searchSessions({ displayName: 'fox', userMetadata: { k: 'v' }, statuses, limit: 1 });
    expect(page.sessions).toMatchObject([{ session_id: 'a', checkpoints_count: 2 }]);
    expect((await rest.searchSessions({ cursor: page.next_cursor })).sessions).toEqual([]);
    expect(server.of('sessions/search').map(({ body }) => body)).toEqual([
      { user_metadata: { k: 'v' }, owner: { type: 'own' }, limit: 1, display_name: 'fox', statuses },
      { user_metadata: {}, owner: { type: 'own' }, limit: 50, cursor },
    ]);
    await rest.assignProject('a', 'p');
    expect(server.of('sessions/a/project')[0]).toMatchObject({ method: 'PUT', body: { project_id: 'p' } });
  });

  it('a timeline: waited for while it is made, or why there is none', async () => {
    await using server = await scripted({
      'sessions/a/trace_export': [{ json: { status: 'pending' } }, { json: { status: 'ready', url: 'https://x/t' } }],
      'sessions/b/trace_export': [{ json: { status: 'failed', error: 'too old' } }],
    });
    const { rest } = await server.connect();
    expect(await rest.traceUrl('a')).toBe('https://x/t');
    await expect(rest.traceUrl('b')).rejects.toMatchObject({ message: expect.stringContaining('too old') as string });
  });

  it('copies: of other accounts too, told apart by a bare key that tries share', async () => {
    await using server = await scripted({
      copy_weights: [{ status: 503, json: {} }, { json: { tinker_path: 'tinker://d/weights/a' } }],
    });
    const { rest } = await server.connect();
    const into = { projectId: 'p' };
    const path = await rest.copyWeights('tinker://s/weights/a', { into, ttlSeconds: 3600, accessToken: 't' });
    expect(path).toBe('tinker://d/weights/a');
    const asked = server.of('copy_weights');
    expect(asked[1].body).toEqual({
      source_path: 'tinker://s/weights/a',
      destination_project_id: 'p',
      ttl_seconds: 3600,
    });
    expect(asked[1].headers['x-tinker-weights-access-token']).toBe('t');
    expect(asked[1].headers['x-idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(asked[0].headers['x-idempotency-key']).toBe(asked[1].headers['x-idempotency-key']);
  });

  it('audit log, use and storage', async () => {
    const entry = { timestamp: '2026-01-01T00:00:00Z', event: 'checkpoint_read', event_details: { who: 'me' } };
    const event = {
      bucket_start: '2026-01-01T00:00:00Z',
      bucket_end: '2026-01-01T01:00:00Z',
      event_info: { type: 'training', token_count: 7 },
    };
    const stored = { checkpoint_count: 1, size_bytes: 5, size_gigabytes: 5e-9 };
    const queries: string[] = [];
    await using server = await scripted({
      audit: () => ({ json: { entries: [entry] } }),
      'billing/usage/events': () => ({ json: { data: [event], sessions: {} } }),
      'billing/usage/checkpoints/current': () => ({ json: { data: [stored] } }),
    });
    const { admin } = await server.connect();
    expect((await admin.auditLog({ eventType: 'checkpoints', day: '2026-01-01' })).entries).toEqual([entry]);
    const used = await admin.billingUsage(new Date('2026-01-01T00:00:00Z'), new Date('2026-01-02T00:00:00Z'));
    expect(used.data[0].event_info).toEqual({ type: 'training', token_count: 7 });
    expect((await admin.checkpointStorage('p')).data).toEqual([stored]);
    for (const path of ['audit', 'billing/usage/events', 'billing/usage/checkpoints/current'])
      queries.push(server.of(path)[0].query);
    expect(queries).toEqual([
      'event_type=checkpoints&day=2026-01-01',
      'starting_on=2026-01-01T00%3A00%3A00.000Z&ending_before=2026-01-02T00%3A00%3A00.000Z',
      'project_id=p',
    ]);
  });
});

describe('against our own server', () => {
  let served: Served;
  let service: ServiceClient;
  beforeAll(async () => {
    const clientConfig = { sample_use_retrieve_futures: true, sample_join_sampling_session: true };
    served = await serveSmall({ clientConfig });
    service = await served.connect();
  });
  afterAll(async () => {
    await service.close();
    await served[Symbol.asyncDispose]();
    expect(served.failures).toEqual([]);
  });

  it('forty samples at once, of two clients of a sampler, are the same as one by one', async () => {
    const sampler = await service.createSamplingClient({ baseModel: 'small' });
    const joined = service.joinSamplingClient(sampler.samplerId);
    const one = async (client: typeof sampler, seed: number): Promise<readonly number[]> => {
      const { sequences } = await client.sample({
        ...CALL,
        params: { ...CALL.params, maxTokens: 6, seed: BigInt(seed) },
      });
      return Array.from(sequences[0].tokens);
    };
    const seeds = Array.from({ length: 20 }, (_, i) => i);
    const [mine, theirs] = await Promise.all([
      Promise.all(seeds.map((seed) => one(sampler, seed))),
      Promise.all(seeds.map((seed) => one(joined, seed))),
    ]);
    expect(theirs).toEqual(mine);
    expect(await one(sampler, 7)).toEqual(mine[7]);
    expect(new Set(mine.map((tokens) => tokens.join())).size).toBeGreaterThan(10);
  });

  it('images are refused by a model of text, which is named, and the model goes on', async () => {
    const image = { kind: 'image', data: Uint8Array.of(1), format: 'png', expectedTokens: 1 } as const;
    const prompt = [{ kind: 'text', tokens: Int32Array.of(1) }, image] as const;
    const sampler = await service.createSamplingClient({ baseModel: 'small' });
    const words = {
      details: { category: 'user' },
      message: expect.stringMatching(/chunk 1 is of type image.*small/) as string,
    };
    await expect(sampler.sample({ ...CALL, prompt })).rejects.toMatchObject(words);
    const model = await service.createTrainingClient({ baseModel: 'small', lora: { rank: 2 } });
    const inputs = { target_tokens: intTensor([1, 2]), weights: floatTensor([1, 1]) };
    await expect(
      model.forwardBackward([{ modelInput: prompt, lossInputs: inputs }], 'cross_entropy'),
    ).rejects.toMatchObject(words);
    const text = [{ kind: 'text', tokens: Int32Array.of(1, 2) }] as const;
    const { metrics } = await model.forward([{ modelInput: text, lossInputs: inputs }], 'cross_entropy');
    expect(metrics['loss:sum']).toBeGreaterThan(0);
  });

  it('another optimiser is refused by name', async () => {
    const optimizer = { type: 'dimuon', version: 1 };
    await expect(
      service.createTrainingClient({ baseModel: 'small', lora: { rank: 2 }, optimizer }),
    ).rejects.toMatchObject({
      details: { category: 'user' },
      message: expect.stringMatching(/"dimuon".*adamw/) as string,
    });
  });

  it('what an account has: its sessions, copies, storage; no audit log, no bills, no timelines', async () => {
    const { rest, admin } = service;
    const model = await service.createTrainingClient({ baseModel: 'small', lora: { rank: 2 } });
    const path = await model.saveState('a');
    const copy = await service.copyWeights(path);
    expect((await rest.weightsInfo(copy)).lora_rank).toBe(2);
    const other = await rest.copyWeights(path, { into: { projectId: 'p' }, ttlSeconds: 3600 });
    expect((await rest.listRuns({ projectId: 'p' })).map((run) => run.last_checkpoint?.tinker_path)).toEqual([other]);
    const restored = await service.createTrainingClientFromState({ path: copy, optimizer: true });
    expect(restored.modelId).not.toBe(model.modelId);
    const { sessions } = await rest.searchSessions({ sessionId: service.sessionId });
    expect(sessions).toMatchObject([
      { session_id: service.sessionId, status: { type: 'active' }, checkpoints_count: 2 },
    ]);
    const { data } = await admin.checkpointStorage();
    expect(data.map(({ project_id, checkpoint_count }) => [project_id, checkpoint_count])).toEqual([
      ['local', 2],
      ['p', 1],
    ]);
    expect(data[0].size_bytes).toBeGreaterThan(1000);
    await expect(admin.auditLog()).rejects.toMatchObject({ code: 'tinker-not-found' });
    await expect(admin.billingUsage(new Date(0), new Date(1))).rejects.toMatchObject({ code: 'tinker-not-found' });
    await expect(rest.traceUrl(service.sessionId)).rejects.toThrow(/No timelines are kept here/);
    expect((await rest.capabilities()).supported_models).toMatchObject([{ model_name: 'small' }]);
  });
});
