// Models as `--model` names them: by a name of the hub, fetched from one on this machine, and as a GGUF file that our own
// exporter wrote. Real engines in processes of their own, real HTTP; weights are a tiny random Llama's.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openServedModels } from '../../src/cli/served-models.ts';
import { exportGguf, mergedModel, openModelFolder } from '../../src/engine/index.ts';
import { serveTinker, type ServedModel } from '../../src/server/index.ts';
import { tokenizerToGguf } from '../../src/tokens/index.ts';
import { RawClient, sampleBody } from './tinker-client.ts';

const FIXTURE = fileURLToPath(new URL('../../src/engine/fixtures/llama/', import.meta.url));
const REPO = 'tabwright-tests/Tiny-Llama';
const COMMIT = 'c'.repeat(40);
const VOCABULARY = 64;
const TIMEOUT = 420_000;

let folder: string;
let hub: Server;
const asked: string[] = [];
const warnings: string[] = [];

/** Letters, a space and an end token, as many as the fixture has rows. */
function tokenizerJson(): object {
  const letters = Array.from({ length: VOCABULARY - 2 }, (_, i) => String.fromCodePoint(0x41 + i));
  const vocab = Object.fromEntries([...letters, 'Ġ'].map((letter, id) => [letter, id]));
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    version: '1.0',
    added_tokens: [
      {
        id: VOCABULARY - 1,
        content: '<|end|>',
        special: true,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
      },
    ],
    normalizer: null,
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel] },
    post_processor: null,
    decoder: byteLevel,
    model: { type: 'BPE', vocab, merges: [] },
  };
}

const TOKENIZER_CONFIG = {
  eos_token: { content: '<|end|>' },
  chat_template:
    '{% for message in messages %}{{ message.role }} {{ message.content }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}assistant {% endif %}',
};

async function serveHub(files: string): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://hub');
    asked.push(pathname);
    const json = (body: unknown): unknown =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const answer = async (): Promise<unknown> => {
      if (pathname.startsWith(`/api/models/${REPO}/revision/`)) return json({ id: REPO, sha: COMMIT, lastModified: 0 });
      if (!pathname.startsWith(`/api/models/${REPO}/tree/`)) {
        return response.end(await readFile(join(files, pathname.split('/').at(-1)!)));
      }
      const names = await readdir(files);
      const listed = names.map(async (path) => {
        const data = await readFile(join(files, path));
        const oid = createHash('sha1').update(`blob ${data.length}\0`).update(data).digest('hex');
        return { type: 'file', path, size: data.length, oid };
      });
      return json(await Promise.all(listed));
    };
    answer().catch((error: unknown) => response.writeHead(404).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-served-'));
  const files = join(folder, 'files');
  await mkdir(files);
  await cp(join(FIXTURE, 'model.safetensors'), join(files, 'model.safetensors'));
  const config = JSON.parse(await readFile(join(FIXTURE, 'config.json'), 'utf8')) as Record<string, unknown>;
  const own = { ...config, eos_token_id: VOCABULARY - 1 };
  await writeFile(join(files, 'config.json'), JSON.stringify(own));
  await writeFile(join(files, 'tokenizer.json'), JSON.stringify(tokenizerJson()));
  await writeFile(join(files, 'tokenizer_config.json'), JSON.stringify(TOKENIZER_CONFIG));
  hub = await serveHub(files);
  vi.stubEnv('HF_ENDPOINT', `http://127.0.0.1:${(hub.address() as AddressInfo).port}`);
  vi.stubEnv('HF_TOKEN', '');
  vi.stubEnv('HF_HUB_OFFLINE', '');
  vi.stubEnv('TABWRIGHT_CACHE', join(folder, 'cache'));
  const source = await openModelFolder(files);
  await exportGguf({
    path: join(folder, 'tiny.gguf'),
    config: own,
    tensors: mergedModel({ source }).tensors,
    type: 'F16',
    name: 'tiny',
    tokenizer: tokenizerToGguf({
      name: 'tiny',
      json: tokenizerJson(),
      config: TOKENIZER_CONFIG,
      vocabSize: VOCABULARY,
      ids: own,
    }),
  });
  await source.close();
}, TIMEOUT);

afterAll(async () => {
  vi.unstubAllEnvs();
  hub.closeAllConnections();
  hub.close();
  await rm(folder, { recursive: true, force: true });
});

const open = (models: string, aliases?: string, decodeWeights?: 'q4'): Promise<readonly ServedModel[]> =>
  openServedModels({
    models,
    aliases,
    decodeWeights,
    threads: 1,
    contextLength: undefined,
    chatFormat: undefined,
    signal: AbortSignal.timeout(TIMEOUT),
    warn: (message) => warnings.push(message),
  });

test(
  'a name of the hub and a GGUF file of the same weights are served side by side and say the same',
  async () => {
    const gguf = `gguf:${join(folder, 'tiny.gguf')}`;
    const models = await open(`hf:${REPO}@main, ${gguf}`, `file=${gguf}`);
    const failures: unknown[] = [];
    try {
      await using server = await serveTinker({
        models,
        folder: join(folder, 'runs'),
        port: 0,
        onFailure: (error) => failures.push(error),
      });
      const client = new RawClient(server.url);
      expect(models.map(({ names }) => names)).toEqual([
        [`hf:${REPO}@main`, REPO],
        [gguf, 'file'],
      ]);
      const session = await client.session();
      const prompt = { chunks: [{ type: 'encoded_text', tokens: [3, 1, 4, 1, 5, 9, 2, 6] }] };
      const sampled: { readonly tokens: number[]; readonly logprobs: number[] }[] = [];
      for (const [i, name] of [REPO, 'file'].entries()) {
        const body = { session_id: session, sampling_session_seq_id: i, base_model: name };
        const sampler = (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
        const params = { max_tokens: 12, seed: 5, temperature: 1, stop: [] };
        const { sequences } = await client.samples(
          await client.submit('asample', sampleBody(sampler, 0, { prompt, sampling_params: params })),
        );
        sampled.push({ tokens: [...sequences[0].tokens], logprobs: [...sequences[0].logprobs!] });
      }
      expect(sampled[0].tokens).toHaveLength(12);
      expect(sampled[1].tokens).toEqual(sampled[0].tokens);
      // The file holds halves of floats.
      for (const [i, value] of sampled[0].logprobs.entries()) expect(sampled[1].logprobs[i]).toBeCloseTo(value, 2);

      // Neither is a model whose format is known here, so they speak by their own template, and end where it ends.
      const chats = [];
      for (const name of [REPO, 'file']) {
        const messages = [{ role: 'user', content: 'HELLO' }];
        const reply = await client.send('POST', '/v1/chat/completions', {
          model: name,
          messages,
          temperature: 0,
          max_tokens: 8,
        });
        expect(reply.status, JSON.stringify(reply.body)).toBe(200);
        chats.push((reply.body as { usage: unknown }).usage);
      }
      expect(chats[0]).toMatchObject({ prompt_tokens: 'user HELLO'.length + 1 + 'assistant '.length });
      expect(chats[1]).toEqual(chats[0]);

      const model = await client.model(session, { base_model: REPO });
      const info = await client.ok('get_info', { model_id: model });
      expect(info['model_data']).toEqual({ arch: 'llama', model_name: REPO, tokenizer_id: REPO });
      expect([failures, warnings]).toEqual([[], []]);
    } finally {
      for (const { backend } of models) await backend[Symbol.asyncDispose]();
    }
  },
  TIMEOUT,
);

test(
  'what was fetched is not fetched again, and names that are nowhere are refused before an engine is started',
  async () => {
    const weights = (): number => asked.filter((path) => path.endsWith('model.safetensors')).length;
    expect(weights()).toBe(1);
    const [model] = await open(`hf:${REPO}`);
    await model.backend[Symbol.asyncDispose]();
    expect(weights()).toBe(1);
    await expect(open('hf:tabwright-tests/none')).rejects.toThrow(/tabwright-tests\/none/);
    await expect(open(`gguf:${join(folder, 'none.gguf')}`)).rejects.toThrow(/none\.gguf/);
  },
  TIMEOUT,
);

test(
  "rounded weights are asked for in the engine's process, which says where they cannot be had",
  { timeout: TIMEOUT },
  async () => {
    await expect(open('nano', undefined, 'q4')).rejects.toMatchObject({ code: 'bad-decode-weights' });
  },
);
