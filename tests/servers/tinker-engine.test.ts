// The embedded engine behind Tinker's API: what comes over the wire equals what is computed here, and the server answers
// while it computes.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Readable } from 'node:stream';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Datum } from '../../src/core/index.ts';
import { readPeftAdapter } from '../../src/engine/index.ts';
import { serveTinker, type TinkerServer } from '../../src/server/index.ts';
import { floatTensor, intTensor, topkRows, toSparse, type WireDatum } from '../../src/tinker/index.ts';
import { ADAM, crossEntropy, RawClient, sampleBody, supervised, type JsonBody } from './tinker-client.ts';
import { END, tinyModel, tokenizer } from './tiny-model.ts';

const model = tinyModel();
const failures: unknown[] = [];
let folder: string;
let server: TinkerServer;
let client: RawClient;
let session: string;
let models = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-serve-'));
  server = await serveTinker({
    models: [model],
    folder,
    port: 0,
    limits: { longPollMs: 2_000 },
    onFailure: (error) => failures.push(error),
  });
  client = new RawClient(server.url);
  session = await client.session();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await model.backend[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
  expect(failures).toEqual([]);
});

const create = (options: JsonBody = {}): Promise<string> =>
  client.model(session, { model_seq_id: models++, lora_config: { rank: 4, seed: 5 }, ...options });
const optim = async (id: string, seqId: number): Promise<JsonBody> =>
  client.result(
    await client.submit('optim_step', { model_id: id, seq_id: seqId, adam_params: { ...ADAM, learning_rate: 0.01 } }),
  );
const IDS = tokenizer.encode('the cat sat');

function toDatum({ modelInput, lossInputs }: WireDatum): Datum {
  const [chunk] = modelInput as [{ kind: 'text'; tokens: Int32Array }];
  return {
    tokens: [...chunk.tokens],
    lossInputs: {
      targetTokens: [...lossInputs['target_tokens'].values],
      weights: [...lossInputs['weights'].values],
    },
  };
}

test('training over the wire is training here, to the bit', async () => {
  const row = supervised(IDS, 0.25);
  const id = await create();
  await using trainer = await model.backend.createTrainer({ lora: { rank: 4, alpha: 32, seed: 5 } });
  for (let step = 0; step < 3; step++) {
    const [remote, here] = [
      await client.output(await client.pass(crossEntropy(id, 2 * step + 1, [row]))),
      await trainer.forwardBackward([toDatum(row)], 'cross_entropy'),
    ];
    expect(remote.outputs[0]['logprobs'].values).toEqual(here.logprobs[0]);
    expect(remote.metrics['loss:sum']).toBe(here.metrics['loss:sum']);
    const metrics = (await optim(id, 2 * step + 2))['metrics'] as Record<string, number>;
    const local = await trainer.optimStep({ learningRate: 0.01, beta1: 0.9, beta2: 0.95, eps: 1e-8 });
    expect(metrics['optim/grad_norm']).toBe(local.metrics['optim/grad_norm']);
  }
});

test('forward and forward_backward compute the same numbers, and the sampler agrees', async () => {
  const id = await create();
  const row = supervised(IDS);
  const passed = await client.output(await client.pass(crossEntropy(id, 1, [row])));
  const forward = await client.output(await client.pass({ ...crossEntropy(id, 2, [row]), forwardOnly: true }));
  expect(forward).toEqual(passed);
  const body = { model_id: id, seq_id: 3, sampling_session_seq_id: 100 + models };
  const sampler = (await client.result(await client.submit('save_weights_for_sampler', body)))['sampling_session_id'];
  const prompt = { chunks: [{ type: 'encoded_text', tokens: IDS }] };
  const asked = await client.submit('asample', sampleBody(sampler as string, 0, { prompt, prompt_logprobs: true }));
  const { promptLogprobs } = await client.samples(asked);
  passed.outputs[0]['logprobs'].values.forEach((value, i) => expect(promptLogprobs![i + 1]).toBeCloseTo(value, 4));
});

test('several targets a position, dense and sparse, are the sum of each by itself', async () => {
  const id = await create();
  const input = { modelInput: supervised(IDS).modelInput };
  const length = IDS.length - 1;
  const targets = Float64Array.from({ length: 2 * length }, (_, i) =>
    i % 2 === 0 ? IDS[i / 2 + 1] : i % 4 === 1 ? 65 : 0,
  );
  const weights = Float32Array.from({ length: 2 * length }, (_, i) => (i % 2 === 0 ? 0.5 : i % 4 === 1 ? -0.25 : 0));
  const dense = { target_tokens: intTensor(targets, [length, 2]), weights: floatTensor(weights, [length, 2]) };
  const sparse = { target_tokens: toSparse(dense.target_tokens), weights: toSparse(dense.weights) };
  const output = async (seqId: number, lossInputs: WireDatum['lossInputs']) =>
    client.output(await client.pass(crossEntropy(id, seqId, [{ ...input, lossInputs }])));
  const both = await output(1, dense);
  expect(both.outputs[0]['logprobs'].shape).toEqual([length, 2]);
  const expected = Array.from(both.outputs[0]['logprobs'].values).reduce(
    (sum, value, i) => sum - weights[i] * value,
    0,
  );
  expect(both.metrics['loss:sum']).toBeCloseTo(expected, 4);
  expect(await output(2, sparse)).toEqual(both);
});

test('gspo takes its mask and its thresholds', async () => {
  const id = await create();
  const length = IDS.length - 1;
  const lossInputs = {
    target_tokens: intTensor(IDS.slice(1)),
    logprobs: floatTensor(new Array<number>(length).fill(-5)),
    advantages: floatTensor(new Array<number>(length).fill(2)),
    sequence_ratio_mask: floatTensor(Array.from({ length }, (_, i) => (i < 3 ? 0 : 1))),
  };
  const lossConfig = { clip_low_threshold: 0, clip_high_threshold: 100 };
  const request = {
    ...crossEntropy(id, 1, [{ modelInput: supervised(IDS).modelInput, lossInputs }]),
    lossFn: 'gspo',
    lossConfig,
  };
  const { outputs, metrics } = await client.output(await client.pass(request));
  const sampled = [...outputs[0]['logprobs'].values].slice(3);
  const ratio = Math.exp(sampled.reduce((sum, value) => sum + value + 5, 0) / sampled.length);
  expect(metrics['loss:sum']).toBeCloseTo(-2 * ratio, 3);
});

test('the likeliest tokens of samples and of prompts, and stops that are texts', async () => {
  const body = { session_id: session, sampling_session_seq_id: 1, base_model: 'tiny' };
  const sampler = (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
  const ask = async (seqId: number, options: JsonBody) =>
    client.samples(await client.submit('asample', sampleBody(sampler, seqId, options)));
  const { sequences, topkPromptLogprobs } = await ask(0, {
    topk_sample_logprobs: 3,
    topk_prompt_logprobs: 2,
    sampling_params: { max_tokens: 5, seed: 3, temperature: 0 },
  });
  const rows = topkRows(sequences[0].topk!);
  expect(rows.map(([{ token }]) => token)).toEqual([...sequences[0].tokens]);
  rows.forEach((row, i) => expect(row[0].logprob).toBeCloseTo(sequences[0].logprobs![i], 4));
  expect(rows.map((row) => row.length)).toEqual([3, 3, 3, 3, 3]);
  expect(topkRows(topkPromptLogprobs!).map((row) => row.length)).toEqual([0, 2, 2]);

  const long = await ask(1, { sampling_params: { max_tokens: 200, seed: 11, stop: [] } });
  const text = tokenizer.decode([...long.sequences[0].tokens]);
  const stop = text.slice(20, 22); // two characters, each of which may be several tokens
  const stopped = await ask(2, { sampling_params: { max_tokens: 200, seed: 11, stop: [stop] } });
  const tokens = [...stopped.sequences[0].tokens];
  expect(stopped.sequences[0].stopReason).toBe('stop');
  const said = tokenizer.decode(tokens);
  if (tokens.at(-1) !== END) {
    expect(said.indexOf(stop)).toBeGreaterThanOrEqual(0);
    expect(tokenizer.decode(tokens.slice(0, -1)).includes(stop)).toBe(false);
  }
  expect(text.startsWith(said.replace(/\ufffd+$/, ''))).toBe(true);
});

test('adapters leave as a PEFT folder: as an archive and file by file', async () => {
  const id = await create();
  await client.output(await client.pass(crossEntropy(id, 1, [supervised(IDS)])));
  await optim(id, 2);
  const save = async (path: string, seqId: number): Promise<JsonBody> =>
    client.result(await client.submit(path, { model_id: id, seq_id: seqId, path: 'a' }));
  await save('save_weights_for_sampler', 3);
  const redirect = await client.send('GET', `training_runs/${id}/checkpoints/sampler_weights/a/archive`);
  expect([redirect.status, Date.parse(redirect.headers.get('expires')!) > Date.now()]).toEqual([302, true]);
  const archive = await fetch(redirect.headers.get('location')!); // without a key, as the SDK follows it
  const out = join(folder, 'from-archive');
  await writeFiles(out, await unpack(new Uint8Array(await archive.arrayBuffer())));
  const adapter = await readPeftAdapter(out);
  expect([adapter.rank, adapter.alpha]).toEqual([4, 32]);
  expect(adapter.tensors.some(({ name, data }) => name.includes('lora_B') && data.some((value) => value !== 0))).toBe(
    true,
  );

  const external = await save('save_weights_external', 4);
  expect(external['path']).toBe(`tinker://${id}/external_weights/a`);
  const { urls } = await client.get(`training_runs/${id}/checkpoints/external_weights/a/external_weights_urls`);
  const files = await Promise.all(
    Object.entries(urls as Record<string, string>).map(
      async ([name, url]) => [name, new Uint8Array(await (await fetch(url)).arrayBuffer())] as const,
    ),
  );
  expect(files.map(([name]) => name).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
  const other = join(folder, 'from-urls');
  await writeFiles(other, new Map(files));
  expect(await readPeftAdapter(other)).toEqual(adapter);
});

test('a model that is trained whole has no PEFT form', async () => {
  const id = await create({ lora_config: undefined });
  const asked = await client.submit('save_weights_external', { model_id: id, seq_id: 1, path: 'a' });
  expect(await client.failure(asked)).toEqual({
    error: expect.stringMatching(/trained whole/) as string,
    category: 'user',
  });
});

test('256 requests for samples at once are all answered', { timeout: 400_000 }, async () => {
  const body = { session_id: session, sampling_session_seq_id: 2, base_model: 'tiny' };
  const sampler = (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
  const sample = async (i: number) => {
    const asked = sampleBody(sampler, i, { sampling_params: { max_tokens: 16, seed: i } });
    return client.samples(await client.submit('asample', asked));
  };
  const all = await Promise.all(Array.from({ length: 256 }, (_, i) => sample(i)));
  expect(all.every(({ sequences }) => sequences[0].tokens.length > 0)).toBe(true);
  // The company of other requests changes nothing.
  expect(await sample(7)).toEqual(all[7]);
});

async function unpack(bytes: Uint8Array): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  const tar = extract();
  const reading = (async () => {
    for await (const entry of tar) {
      const parts: Buffer[] = [];
      for await (const part of entry) parts.push(part as Buffer);
      files.set((entry.header as { name: string }).name, new Uint8Array(Buffer.concat(parts)));
    }
  })();
  await pipeline(Readable.from([bytes]), createGunzip(), tar);
  await reading;
  return files;
}

async function writeFiles(path: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const { mkdir } = await import('node:fs/promises');
  await mkdir(path, { recursive: true });
  for (const [name, bytes] of files) await writeFile(join(path, name), bytes);
}
