// Tinker's API as clients of every generation send it: order, results, exact sums, failures as data.

import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  encodeForwardBackwardRequest,
  forwardBackwardRequestToJson,
  intTensor,
  floatTensor,
  type WireDatum,
} from '../../src/tinker/index.ts';
import { ADAM, crossEntropy, supervised, type RawClient } from './tinker-client.ts';
import { serveTabular, type ServerUnderTest } from './tinker-server.ts';

let server: ServerUnderTest;
let client: RawClient;
let session: string;
let model: string;

beforeEach(async () => {
  server = await serveTabular({ limits: { longPollMs: 50 } });
  client = server.client;
  session = await client.session();
  model = await client.model(session);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  expect(server.failures).toEqual([]);
});

const optim = async (seqId: number): Promise<any> =>
  (
    await client.result(
      (await client.ok('optim_step', { model_id: model, seq_id: seqId, adam_params: ADAM })).request_id,
    )
  ).body;

test('a model has the id that clients compute, and get_info tells what it is', async () => {
  expect(model).toBe(`${session}:train:0`);
  expect(await client.ok('get_info', { model_id: model })).toMatchObject({
    model_id: model,
    model_data: { model_name: 'tiny' },
    is_lora: true,
    lora_rank: 4,
    optimizer_config: { type: 'adamw' },
  });
});

test('a supervised step: untrained log-probabilities are uniform, their sum is the loss, and training lowers it', async () => {
  const row = supervised([1, 3, 5, 7]);
  const { outputs, metrics } = await client.output(await client.pass(crossEntropy(model, 1, [row])));
  expect(Array.from(outputs[0].logprobs.values)).toEqual([...new Array(3)].map(() => expect.closeTo(-Math.log(32), 5)));
  expect(metrics['loss:sum']).toBeCloseTo(3 * Math.log(32), 5);
  expect(Object.keys((await optim(2)).metrics)).toContain('optim/grad_norm');
  const after = await client.output(await client.pass(crossEntropy(model, 3, [row])));
  expect(after.metrics['loss:sum']).toBeLessThan(metrics['loss:sum'] - 0.3);
});

test('requests that arrive out of order are acknowledged at once and run in order', async () => {
  const row = supervised([1, 3, 5]);
  const second = await client.pass(crossEntropy(model, 2, [row]));
  const third = await client.ok('optim_step', { model_id: model, seq_id: 3, adam_params: ADAM });
  const fourth = await client.pass(crossEntropy(model, 4, [row]));
  const early = await client.post('retrieve_future', { request_id: second });
  expect(early.body).toEqual({
    type: 'try_again',
    request_id: second,
    queue_state: 'active',
    queue_state_reason: 'request 1 of this model has not arrived yet',
  });
  const first = await client.pass(crossEntropy(model, 1, [row]));
  const losses = await Promise.all(
    [first, second, fourth].map(async (id) => (await client.output(id)).metrics['loss:sum']),
  );
  expect(losses[0]).toBeCloseTo(2 * Math.log(32), 5);
  expect(losses[1]).toBeCloseTo(2 * Math.log(32), 5);
  expect(losses[2]).toBeLessThan(losses[0] - 0.1);
  expect((await client.result(third.request_id)).body.error).toBeUndefined();
});
