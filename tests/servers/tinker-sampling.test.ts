// Sampling by Tinker's API: snapshots, seeds, scores of prompts, what is refused, and requests that come twice.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { topkRows } from '../../src/tinker/index.ts';
import { ADAM, crossEntropy, sampleBody, supervised, type JsonBody, type RawClient } from './tinker-client.ts';
import { serveTabular, type ServerUnderTest } from './tinker-server.ts';

let server: ServerUnderTest;
let client: RawClient;
let session: string;
let sampler: string;

beforeEach(async () => {
  server = await serveTabular({ limits: { longPollMs: 50, heldSamplers: 2 } });
  client = server.client;
  session = await client.session();
  sampler = await create(0, { base_model: 'tiny' });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  expect(server.failures).toEqual([]);
});

async function create(sequence: number, of: JsonBody): Promise<string> {
  const body = { session_id: session, sampling_session_seq_id: sequence, ...of, type: 'create_sampling_session' };
  return (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
}

const ask = (seqId: number | bigint, options: JsonBody = {}): Promise<string> =>
  client.submit('asample', sampleBody(sampler, seqId, options));
const JSON_HEADERS = { 'Content-Type': 'application/json' };

test('a sampler has the id that clients expect, once for each number, and tells its base model', async () => {
  expect(sampler).toBe(`${session}:sample:0`);
  expect(await create(0, { base_model: 'tiny' })).toBe(sampler);
  expect(await client.get(`samplers/${sampler}`)).toEqual({ sampler_id: sampler, base_model: 'tiny' });
});

test('every promise of samples names its sequences', async () => {
  const promise = await client.ok('asample', sampleBody(sampler, 0, { num_samples: 2 }), JSON_HEADERS);
  expect(promise).toEqual({
    request_id: `${sampler}:0`,
    sample_sequence_ids: [`${sampler}:0:0`, `${sampler}:0:1`],
  });
});

test('the same seed gives the same tokens, and samples of a request differ', async () => {
  const options = { num_samples: 2, sampling_params: { max_tokens: 8, seed: 7 } };
  const [first, again] = await Promise.all(
    [ask(0, options), ask(1, options)].map(async (id) => client.samples(await id)),
  );
  expect(again).toEqual(first);
  const [one, two] = first.sequences.map(({ tokens }) => [...tokens]);
  expect(one).not.toEqual(two);
  expect(first.sequences[0].logprobs).toEqual(new Float32Array(one.length).fill(-Math.log(32)));
});

test('the token that stops is part of the sample; without a stop the model ends itself; an empty list stops nothing', async () => {
  const long = { max_tokens: 60, seed: 1 };
  const [byDefault, byList, never] = await Promise.all(
    [long, { ...long, stop: [9] }, { ...long, stop: [] }].map(async (sampling_params, i) => {
      const { sequences } = await client.samples(await ask(i, { sampling_params }));
      return { tokens: [...sequences[0].tokens], reason: sequences[0].stopReason };
    }),
  );
  expect([byDefault.tokens.indexOf(2), byDefault.reason]).toEqual([byDefault.tokens.length - 1, 'stop']);
  expect([byList.tokens.indexOf(9), byList.reason]).toEqual([byList.tokens.length - 1, 'stop']);
  expect([never.tokens.length, never.reason, never.tokens.includes(2)]).toEqual([60, 'length', true]);
});

test('max_tokens left out means up to the end of the context', async () => {
  const { sequences } = await client.samples(await ask(0, { sampling_params: { max_tokens: undefined, stop: [] } }));
  expect(sequences[0].tokens.length).toBe(64 - 3);
});

test('scores of a prompt: its own tokens, the likeliest, and those that are asked for', async () => {
  const response = await client.samples(
    await ask(0, {
      prompt_logprobs: true,
      topk_prompt_logprobs: 2,
      target_prompt_logprobs: { data: [5, -1, -1, 6], dtype: 'int64', shape: [2, 2] },
    }),
  );
  const uniform = -Math.log(32);
  expect([...response.promptLogprobs!].map((value) => Math.fround(value))).toEqual(
    [NaN, uniform, uniform].map((value) => Math.fround(value)),
  );
  expect(topkRows(response.topkPromptLogprobs!).map((row) => row.map(({ token }) => token))).toEqual([
    [],
    [0, 1],
    [0, 1],
  ]);
  expect([...response.targetPromptLogprobs!.values].map((value) => value.toFixed(4))).toEqual(
    [uniform, 0, 0, uniform].map((value) => value.toFixed(4)),
  );
  expect(response.targetPromptLogprobs!.shape).toEqual([2, 2]);
});

test('sparse targets are answered in their own layout', async () => {
  const target_prompt_logprobs = {
    data: [5, 6],
    dtype: 'int64',
    shape: [2, 2],
    sparse_crow_indices: [0, 1, 2],
    sparse_col_indices: [0, 1],
  };
  const { targetPromptLogprobs } = await client.samples(await ask(0, { target_prompt_logprobs }));
  expect([...targetPromptLogprobs!.values].map((value) => value.toFixed(4))).toEqual(['-3.4657', '-3.4657']);
  expect([...targetPromptLogprobs!.sparse!.columns]).toEqual([0, 1]);
});

test('only the last prompt log-probabilities are told where no more are wanted', async () => {
  const { promptLogprobs } = await client.samples(await ask(0, { prompt_logprobs: true, prompt_logprobs_last_n: 1 }));
  expect([...promptLogprobs!].map(Number.isNaN)).toEqual([true, true, false]);
});

test('JSON of SDK 0.24: null where protobuf has NaN', async () => {
  const body = await client.result(await ask(0, { prompt_logprobs: true }));
  expect(body).toMatchObject({ type: 'sample', prompt_cache_hit_tokens: 0 });
  expect((body['prompt_logprobs'] as unknown[])[0]).toBeNull();
});

test.each<[JsonBody, RegExp]>([
  [{ prompt_alt_tokens_k: 2 }, /prompt_alt_tokens_k is not supported/],
  [{ record_stability_info: true }, /record_stability_info is not supported.*importance_sampling/],
  [{ topk_sample_logprobs: -1 }, /topk_sample_logprobs is -1; it must be from 0 to/],
  [{ prompt_logprobs: true, prompt_logprobs_last_n: -2 }, /prompt_logprobs_last_n is -2/],
  [{ topk_sample_logprobs: 2 }, /topk_sample_logprobs is not supported by this model/],
  [{ num_samples: 0 }, /num_samples is 0/],
  [{ prompt: { chunks: [] } }, /prompt: it has no tokens/],
  [{ prompt: { chunks: [{ type: 'encoded_text', tokens: [40] }] } }, /token 40 at 0 is outside/],
  [{ prompt: { chunks: [{ type: 'image', data: 'AA==', format: 'png' }] } }, /chunk 0 is of type image/],
  [{ sampling_params: { max_tokens: 62 } }, /context window: 3 \+ 62 > 64/],
  [{ sampling_params: { max_tokens: 0 } }, /max_tokens is 0/],
  [{ sampling_params: { temperature: -1 } }, /temperature is -1/],
  [{ sampling_params: { top_p: 0 } }, /top_p is 0/],
  [{ sampling_params: { top_k: 0 } }, /top_k is 0/],
  [{ sampling_params: { stop: 'x' } }, /no tokenizer here; give token ids/],
  [{ target_prompt_logprobs: { data: [1], dtype: 'int64', shape: [1, 1] } }, /shape \[1, 1\].*\[2, K\]/],
])('%j is a failure of the user that says why', async (options, message) => {
  const { error, category } = await client.failure(await ask(0, options));
  expect([category, message.test(error)], error).toEqual(['user', true]);
});

test('numbers beyond 2^53 are requests of their own, and a number that comes twice is one request', async () => {
  const big = 10n ** 18n + 7n;
  const ids = await Promise.all([ask(big), ask(big + 1n), ask(big)]);
  expect(ids).toEqual([`${sampler}:${big}`, `${sampler}:${big + 1n}`, `${sampler}:${big}`]);
});

test('what stands for a prompt is refused where there is no such sampler', async () => {
  const unknown = await client.post('asample', sampleBody(`${session}:sample:9`, 0), JSON_HEADERS);
  expect(unknown.status).toBe(404);
  const none = await client.post('create_sampling_session', {
    session_id: session,
    sampling_session_seq_id: 1,
    model_path: 'tinker://nobody/sampler_weights/x',
  });
  expect([none.status, none.body['error']]).toEqual([404, expect.stringMatching(/no checkpoint/) as string]);
});

test('a sampler without a session is asked by its base model', async () => {
  const id = await client.submit('asample', sampleBody('', 0, { sampling_session_id: undefined, base_model: 'tiny' }));
  expect((await client.samples(id)).sequences).toHaveLength(1);
});

async function trained(model: string, seqId: number): Promise<void> {
  await client.output(await client.pass(crossEntropy(model, seqId, [supervised([1, 2, 3, 4])])));
  await client.result(await client.submit('optim_step', { model_id: model, seq_id: seqId + 1, adam_params: ADAM }));
}
async function snapshot(model: string, seqId: number, sequence: number): Promise<string> {
  const body = { model_id: model, seq_id: seqId, sampling_session_seq_id: sequence, kind: 'snapshot' };
  return (await client.result(await client.submit('save_weights_for_sampler', body)))['sampling_session_id'] as string;
}
const scores = async (of: string, seqId: number): Promise<number[]> => {
  const body = sampleBody(of, seqId, { prompt_logprobs: true });
  return [...(await client.samples(await client.submit('asample', body))).promptLogprobs!].slice(1);
};

test('a snapshot keeps its weights whatever is trained later, and closes when enough others were used since', async () => {
  const model = await client.model(session);
  await trained(model, 1);
  const first = await snapshot(model, 3, 1);
  expect(first).toBe(`${session}:sample:1`);
  const before = await scores(first, 0);
  expect(before[0]).toBeGreaterThan(-Math.log(32));
  await trained(model, 4);
  expect(await scores(first, 1)).toEqual(before);
  const second = await snapshot(model, 6, 2);
  expect((await scores(second, 0))[0]).toBeGreaterThan(before[0]);
  // The first was used last, as the reference of a run is in each of its steps: it stays, and the other goes.
  expect(await scores(first, 2)).toEqual(before);
  await snapshot(model, 7, 3);
  expect(await scores(first, 3)).toEqual(before);
  const late = await client.failure(await client.submit('asample', sampleBody(second, 1)));
  expect(late).toEqual({ error: expect.stringMatching(/2 others.*under a name/) as string, category: 'user' });
});

test('more samples than the server takes are told to come again, and do then', async () => {
  await using narrow = await serveTabular({ limits: { longPollMs: 50, maxPendingSamples: 0 } });
  const other = await narrow.client.session();
  const body = { session_id: other, sampling_session_seq_id: 0, base_model: 'tiny' };
  const id = (await narrow.client.ok('create_sampling_session', body))['sampling_session_id'] as string;
  const reply = await narrow.client.post('asample', sampleBody(id, 0), JSON_HEADERS);
  expect([reply.status, typeof reply.body['error']]).toEqual([429, 'string']);
});

test('many requests at once are told of by cursor', async () => {
  const ids = await Promise.all([ask(0), ask(1), ask(2, { num_samples: 0 })]);
  await Promise.all(ids.map((id) => client.poll(id)));
  const target = { type: 'sampling_session', sampling_session_id: sampler, cloned_sampler_id: 0 };
  const all = await client.ok('retrieve_futures', { target, prev_cursor: 0, timeout: 0, retrieved_request_ids: [] });
  const completions = all['completions'] as { state: string; request_id: string }[];
  expect(completions.map(({ request_id }) => request_id).sort()).toEqual(ids);
  expect(completions.find(({ request_id }) => request_id === ids[2])?.state).toBe('failed');
  const none = await client.ok('retrieve_futures', { target, prev_cursor: all['cursor'], timeout: 0 });
  expect(none).toEqual({ completions: [], cursor: 3 });
  const next = async (): Promise<unknown> => {
    for (;;) {
      const { cursor } = await client.ok('retrieve_futures', { target, prev_cursor: 3, timeout: 5 });
      if (cursor !== 3) return cursor;
    }
  };
  expect((await Promise.all([next(), ask(3)]))[0]).toBe(4);
});
