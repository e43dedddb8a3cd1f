// Training by Tinker's API as clients of every generation send it: order, results, exact sums, failures as data.

import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  encodeForwardBackwardRequest,
  floatTensor,
  forwardBackwardRequestToJson,
  intTensor,
  type ForwardBackwardRequest,
  type WireDatum,
} from '../../src/tinker/index.ts';
import { ADAM, crossEntropy, PROTO, supervised, type JsonBody, type RawClient } from './tinker-client.ts';
import { serveTabular, type ServerUnderTest } from './tinker-server.ts';
import { zstdFrame } from './zstd-frame.ts';

const ROW = supervised([1, 3, 5, 7]);
const UNIFORM = Math.log(32);

let server: ServerUnderTest;
let client: RawClient;
let session: string;
let model: string;

beforeEach(async () => {
  server = await serveTabular({ limits: { longPollMs: 50, gapMs: 60_000 } });
  client = server.client;
  session = await client.session();
  model = await client.model(session);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  expect(server.failures).toEqual([]);
});

async function optim(seqId: number, options: JsonBody = {}): Promise<JsonBody> {
  const body = { model_id: model, seq_id: seqId, adam_params: { ...ADAM, ...options }, type: 'optim_step' };
  return client.result(await client.submit('optim_step', body));
}

async function loss(seqId: number, data: readonly WireDatum[] = [ROW], forwardOnly = true): Promise<number> {
  const request = { ...crossEntropy(model, seqId, data), forwardOnly };
  return (await client.output(await client.pass(request))).metrics['loss:sum'];
}

test('a model has the id that clients compute, and get_info tells what it is', async () => {
  expect(model).toBe(`${session}:train:0`);
  expect(await client.ok('get_info', { model_id: model, type: 'get_info' })).toEqual({
    type: 'get_info',
    model_id: model,
    model_data: { model_name: 'tiny' },
    is_lora: true,
    lora_rank: 4,
    model_name: 'tiny',
    optimizer_config: { type: 'adamw' },
  });
});

test('a supervised step: untrained log-probabilities are uniform, their sum is the loss, and training lowers it', async () => {
  const { outputs, metrics } = await client.output(await client.pass(crossEntropy(model, 1, [ROW])));
  for (const logprob of outputs[0]['logprobs'].values) expect(logprob).toBeCloseTo(-UNIFORM, 5);
  expect(metrics['loss:sum']).toBeCloseTo(3 * UNIFORM, 5);
  expect((await optim(2))['metrics']).toHaveProperty('optim/grad_norm');
  expect(await loss(3)).toBeLessThan(3 * UNIFORM - 0.2);
});

test('requests that arrive out of order are acknowledged at once and run in order', async () => {
  const second = await client.pass(crossEntropy(model, 2, [ROW]));
  const third = await client.submit('optim_step', { model_id: model, seq_id: 3, adam_params: ADAM });
  const fourth = await client.pass(crossEntropy(model, 4, [ROW]));
  expect((await client.post('retrieve_future', { request_id: second })).body).toEqual({
    type: 'try_again',
    request_id: second,
    queue_state: 'active',
    queue_state_reason: 'request 1 of this model has not arrived yet',
  });
  const first = await client.pass(crossEntropy(model, 1, [ROW]));
  const losses = await Promise.all(
    [first, second, fourth].map(async (id) => (await client.output(id)).metrics['loss:sum']),
  );
  expect(losses[0]).toBeCloseTo(3 * UNIFORM, 5);
  expect(losses[1]).toBeCloseTo(3 * UNIFORM, 5);
  expect(losses[2]).toBeLessThan(losses[0] - 0.2);
  expect(await client.result(third)).toHaveProperty('metrics');
});

test('the same number posted again, also after it has run, is the same request and runs once', async () => {
  const request = crossEntropy(model, 1, [ROW]);
  const ids = await Promise.all([client.pass(request), client.pass(request)]);
  const { metrics } = await client.output(ids[0]);
  expect(await client.pass(request)).toBe(ids[0]);
  expect(ids[1]).toBe(ids[0]);
  expect((await client.output(ids[0])).metrics).toEqual(metrics);
  const once = (await optim(2))['metrics'] as Record<string, number>;
  const other = await client.model(session, { model_seq_id: 1 });
  await client.output(await client.pass(crossEntropy(other, 1, [ROW])));
  const fresh = await client.result(
    await client.submit('optim_step', { model_id: other, seq_id: 2, adam_params: ADAM }),
  );
  expect(once['optim/grad_norm']).toBe((fresh['metrics'] as Record<string, number>)['optim/grad_norm']);
});

test('create_model twice with the same number is one model', async () => {
  const body = { session_id: session, model_seq_id: 0, base_model: 'tiny', lora_config: { rank: 4 } };
  const ids = await Promise.all([client.submit('create_model', body), client.submit('create_model', body)]);
  expect(ids).toEqual([`${model}:0`, `${model}:0`]);
  expect(server.backend.open).toBe(1);
});

test('JSON of SDK 0.24, protobuf and protobuf under zstd give the same to the bit', async () => {
  const wire = crossEntropy(model, 1, [ROW, supervised([2, 4], -0.5)]);
  const json = forwardBackwardRequestToJson(wire);
  const first = await client.submit('forward_backward', json);
  const second = await client.pass({ ...wire, seqId: 2 });
  const zstd = zstdFrame(encodeForwardBackwardRequest({ ...wire, seqId: 3 }));
  const third = (await client.ok('forward_backward', zstd, { ...PROTO, 'Content-Encoding': 'zstd' }))['request_id'];
  const outputs = await Promise.all([first, second, third as string].map((id) => client.output(id)));
  expect(outputs[1]).toEqual(outputs[0]);
  expect(outputs[2]).toEqual(outputs[0]);
  const { body } = await client.poll(first);
  expect(body['metrics']).toEqual(outputs[0].metrics);
  const shown = body['loss_fn_outputs'] as { logprobs: { data: number[]; dtype: string; shape: number[] } }[];
  expect(Float32Array.from(shown[0].logprobs.data)).toEqual(outputs[0].outputs[0]['logprobs'].values);
  expect(shown[0].logprobs).toMatchObject({ dtype: 'float32', shape: [3] });
});

test('forward, by its old path too, leaves gradients alone; two passes and a step are one on both rows', async () => {
  const other = supervised([2, 9, 4]);
  const json = forwardBackwardRequestToJson({ ...crossEntropy(model, 1, [other]), forwardOnly: true });
  await client.output(await client.submit('forward', json));
  await client.output(await client.pass(crossEntropy(model, 2, [ROW])));
  await client.output(await client.pass(crossEntropy(model, 3, [other])));
  await optim(4);
  const apart = await loss(5, [ROW, other]);
  const joint = await client.model(session, { model_seq_id: 1 });
  await client.output(await client.pass(crossEntropy(joint, 1, [ROW, other])));
  await client.result(await client.submit('optim_step', { model_id: joint, seq_id: 2, adam_params: ADAM }));
  const { metrics } = await client.output(
    await client.pass({ ...crossEntropy(joint, 3, [ROW, other]), forwardOnly: true }),
  );
  expect(apart).toBe(metrics['loss:sum']);
});

test('a step without gradients moves nothing, and every step tells its gradient', async () => {
  expect(await optim(1)).toEqual({ type: 'optim_step', metrics: { 'optim/grad_norm': 0 } });
  expect(await loss(2)).toBeCloseTo(3 * UNIFORM, 5);
});

test('several chunks of text make one row', async () => {
  const [chunk] = ROW.modelInput as [{ kind: 'text'; tokens: Int32Array }];
  const parts = [chunk.tokens.slice(0, 1), chunk.tokens.slice(1)].map((tokens) => ({ kind: 'text' as const, tokens }));
  expect(await loss(1, [{ ...ROW, modelInput: parts }])).toBe(await loss(2));
});

const POLICY: WireDatum = {
  modelInput: ROW.modelInput,
  lossInputs: {
    target_tokens: intTensor([3, 5, 7]),
    logprobs: floatTensor([-3, -4, -3.4]),
    advantages: floatTensor([0.5, -1, 2]),
  },
};

/** Sum over tokens for lp = -log 32, by the formulas of the protocol's documentation. */
function closedForm(term: (lp: number, q: number, advantage: number) => number): number {
  return [-3, -4, -3.4].reduce((sum, q, i) => sum + term(-UNIFORM, q, [0.5, -1, 2][i]), 0);
}
const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

test.each<[string, Record<string, number>, (lp: number, q: number, a: number) => number]>([
  ['importance_sampling', {}, (lp, q, a) => -Math.exp(lp - q) * a],
  ['ppo', {}, (lp, q, a) => -Math.min(Math.exp(lp - q) * a, clamp(Math.exp(lp - q), 0.8, 1.2) * a)],
  [
    'ppo',
    { clip_low_threshold: 0.9, clip_high_threshold: 1.05 },
    (lp, q, a) => -Math.min(Math.exp(lp - q) * a, clamp(Math.exp(lp - q), 0.9, 1.05) * a),
  ],
  ['cispo', {}, (lp, q, a) => -clamp(Math.exp(lp - q), 0, 4) * lp * a],
  ['dro', { beta: 0.1 }, (lp, q, a) => -(lp * a - 0.05 * (lp - q) ** 2)],
])('%s %j has its closed form', async (lossFn, lossConfig, term) => {
  const request: ForwardBackwardRequest = {
    modelId: model,
    seqId: 1,
    data: [POLICY],
    lossFn,
    lossConfig,
    forwardOnly: false,
  };
  const { metrics } = await client.output(await client.pass(request));
  expect(metrics['loss:sum']).toBeCloseTo(closedForm(term), 4);
});

const short = { ...ROW, lossInputs: { ...ROW.lossInputs, target_tokens: intTensor([3, 5]) } };
const mask = { ...POLICY, lossInputs: { ...POLICY.lossInputs, mask: floatTensor([0, 1, 1]) } };
const clip = { ...POLICY, lossInputs: { ...POLICY.lossInputs, clip_low_threshold: floatTensor([1, 1, 1]) } };
const image = {
  ...ROW,
  modelInput: [{ kind: 'image' as const, data: Uint8Array.of(1), format: 'png' as const }, ...ROW.modelInput],
};
test.each<[string, Partial<ForwardBackwardRequest>, RegExp]>([
  ['an unknown loss', { lossFn: 'stable_reinforce' }, /"stable_reinforce" is not served.*importance_sampling.*gspo/],
  ["the server's custom loss", { lossFn: 'custom' }, /"custom" is not served/],
  ['a setting that the loss does not have', { lossConfig: { beta: 1 } }, /loss_fn_config\.beta.*no such setting/],
  ['a setting that is text', { lossFn: 'dro', lossConfig: { beta: 'x' } }, /beta must be a finite number/],
  ['a row that is too short', { data: [ROW, short] }, /datum 1: .*target_tokens has shape \[2\].*\[3\] or \[3, K\]/],
  ['an input that is missing', { lossFn: 'ppo', data: [ROW] }, /datum 0: loss_fn_inputs\.weights is no input of ppo/],
  ['an input that is not known', { lossFn: 'ppo', data: [mask] }, /datum 0: loss_fn_inputs\.mask is no input of ppo/],
  [
    'thresholds of single tokens',
    { lossFn: 'ppo', data: [clip] },
    /thresholds of single tokens are not.*loss_fn_config/,
  ],
  ['no rows', { data: [] }, /data is empty/],
  ['a picture', { data: [image] }, /datum 0: model_input: chunk 0 is of type image/],
  ['a token that there is not', { data: [supervised([1, 2, 99])] }, /datum 0: .*99 at 1 is no token/],
])('%s is a failure of the user at its place, and the model goes on', async (_, part, message) => {
  const id = await client.pass({ ...crossEntropy(model, 1, [ROW]), ...part });
  expect(await client.failure(id)).toEqual({ error: expect.stringMatching(message) as string, category: 'user' });
  expect(await loss(2)).toBeCloseTo(3 * UNIFORM, 5);
});

test.each<[string, unknown, Record<string, string>, number]>([
  ['a damaged protobuf', encodeForwardBackwardRequest(crossEntropy('MODEL', 1, [ROW])).slice(0, -3), PROTO, 400],
  ['JSON of another shape', { forward_backward_input: {}, model_id: 'MODEL', seq_id: 1 }, {}, 400],
])('%s is refused, and its number counts as used', async (_, given, headers, status) => {
  const body =
    given instanceof Uint8Array
      ? Buffer.from(encodeForwardBackwardRequest(crossEntropy(model, 1, [ROW])).slice(0, -3))
      : { ...(given as object), model_id: model };
  const waiting = await client.pass(crossEntropy(model, 2, [ROW]));
  const reply = await client.post('forward_backward', body, headers);
  expect([reply.status, typeof reply.body['error'], typeof reply.body['detail']]).toEqual([status, 'string', 'string']);
  expect((await client.output(waiting)).metrics['loss:sum']).toBeCloseTo(3 * UNIFORM, 5);
});

test('a control request of another shape is refused with its field, and its number counts as used', async () => {
  const reply = await client.post('save_weights', { model_id: model, seq_id: 1, path: 7 });
  expect([reply.status, reply.body['error']]).toEqual([400, expect.stringMatching(/path/) as string]);
  expect(await loss(2)).toBeCloseTo(3 * UNIFORM, 5);
});

test('another optimiser is a failure that names what there is', async () => {
  const dimuon = { type: 'dimuon', learning_rate: 0.1 };
  const step = await client.submit('optim_step', { model_id: model, seq_id: 1, optimizer_params: dimuon });
  expect((await client.failure(step)).error).toMatch(/"dimuon".*adamw/);
  const body = {
    session_id: session,
    model_seq_id: 1,
    base_model: 'tiny',
    optimizer_config: { type: 'dimuon', version: 1 },
  };
  expect((await client.failure(await client.submit('create_model', body))).error).toMatch(/"dimuon".*adamw/);
});

test.each([
  [{ base_model: 'gpt-17' }, /base_model "gpt-17" is not served here; served are tiny, Qwen\/Qwen3-8B/],
  [{ lora_config: { rank: 0 } }, /lora_config\.rank is 0/],
  [{ lora_config: { rank: 4, train_mlp: false, train_attn: false, train_unembed: false } }, /must be true/],
])('a model as %j fails as data', async (part, message) => {
  const body = { session_id: session, model_seq_id: 1, base_model: 'tiny', lora_config: { rank: 4 }, ...part };
  const { error, category } = await client.failure(await client.submit('create_model', body));
  expect([category, message.test(error)], error).toEqual(['user', true]);
});

test('without LoRA settings the whole model is trained, and a hub name may stand for it', async () => {
  const whole = await client.model(session, { model_seq_id: 1, base_model: 'Qwen/Qwen3-8B', lora_config: undefined });
  const info = await client.ok('get_info', { model_id: whole });
  expect(info).toMatchObject({ is_lora: false, model_data: { model_name: 'Qwen/Qwen3-8B' } });
  expect(info['lora_rank']).toBeUndefined();
});

test('a missing number fails those that wait for it after a while, and later ones go on', async () => {
  await using impatient = await serveTabular({ limits: { longPollMs: 50, gapMs: 100 } });
  const other = impatient.client;
  const id = await other.model(await other.session());
  const third = await other.pass(crossEntropy(id, 3, [ROW]));
  expect(await other.failure(third)).toEqual({
    error: 'Request 1 of this model did not arrive within 0.1 s.',
    category: 'server',
  });
  const late = await other.post('forward_backward', encodeForwardBackwardRequest(crossEntropy(id, 1, [ROW])), PROTO);
  expect([late.status, late.body['error']]).toEqual([400, expect.stringMatching(/seq_id 1 .* is over/) as string]);
  expect((await other.output(await other.pass(crossEntropy(id, 4, [ROW])))).metrics['loss:sum']).toBeCloseTo(
    3 * UNIFORM,
    5,
  );
});

test('numbers that make no sense are refused', async () => {
  for (const seqId of [undefined, 5_000_000]) {
    const body = encodeForwardBackwardRequest({ ...crossEntropy(model, 1, [ROW]), seqId });
    expect((await client.post('forward_backward', body, PROTO)).status).toBe(400);
  }
  expect((await client.post('optim_step', { model_id: `${session}:train:9`, seq_id: 1 })).status).toBe(404);
});

test('a model that is unloaded frees its trainer and fails what waits', async () => {
  const waiting = await client.pass(crossEntropy(model, 2, [ROW]));
  const id = await client.submit('unload_model', { model_id: model });
  expect(await client.submit('unload_model', { model_id: model })).toBe(id);
  expect(await client.result(id)).toEqual({ type: 'unload_model', model_id: model });
  expect((await client.failure(waiting)).category).toBe('server');
  expect(server.backend.open).toBe(0);
  expect((await client.post('get_info', { model_id: model })).status).toBe(404);
});
