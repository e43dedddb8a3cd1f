// Every command of docs/guide/models.md, as it is written there: against a hub on this machine that offers a tiny model
// under the name that the guide uses, and an archive as Tinker's servers send them.

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openGguf, openModelFolder, readPeftAdapter, writePeftAdapter } from '../../src/engine/index.ts';
import { decodeSafetensors } from '../../src/engine/safetensors.ts';
import { runModel } from './run-model.ts';

const FIXTURE = fileURLToPath(new URL('../../src/engine/fixtures/llama/', import.meta.url));
const GUIDE = fileURLToPath(new URL('../../docs/guide/models.md', import.meta.url));
const REPO = 'HuggingFaceTB/SmolLM2-135M-Instruct';
const COMMIT = 'c'.repeat(40);
const VOCABULARY = 64;
const PROGRAM = 'npm run tabwright -- ';

let folder = '';
let hub: Server;
const home = process.cwd();

/** Letters with a merge and an end token, as many as the fixture has rows. */
function tokenizerJson(): string {
  const vocab = Object.fromEntries(
    Array.from({ length: VOCABULARY - 1 }, (_, i) => [String.fromCodePoint(0x21 + i), i]),
  );
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  return JSON.stringify({
    added_tokens: [{ id: VOCABULARY - 1, content: '<|end|>', special: true }],
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel] },
    model: { type: 'BPE', vocab, merges: [] },
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-model-'));
  const read = (name: string): Promise<Buffer> => readFile(join(FIXTURE, name));
  const files = new Map([
    ['config.json', await read('config.json')],
    ['model.safetensors', await read('model.safetensors')],
    ['tokenizer.json', Buffer.from(tokenizerJson())],
  ]);
  hub = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://hub');
    const json = (body: unknown): unknown =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname.startsWith(`/api/models/${REPO}/revision/`)) return json({ id: REPO, sha: COMMIT, lastModified: 0 });
    if (pathname.startsWith(`/api/models/${REPO}/tree/`)) {
      return json(
        [...files].map(([path, data]) => ({
          type: 'file',
          path,
          size: data.length,
          oid: createHash('sha1').update(`blob ${data.length}\0`).update(data).digest('hex'),
        })),
      );
    }
    return response.end(files.get(pathname.split('/').at(-1) ?? ''));
  });
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('HF_ENDPOINT', `http://127.0.0.1:${(hub.address() as AddressInfo).port}`);
  vi.stubEnv('HF_TOKEN', '');
  vi.stubEnv('TABWRIGHT_CACHE', join(folder, 'cache'));
  const expected = decodeSafetensors(await read('expected.safetensors'), 'fixture').tensors;
  const tensors = [...expected.values()]
    .filter(({ name }) => /^lora\..*lora_[AB]/.test(name))
    .map((tensor) => ({ ...tensor, name: tensor.name.slice('lora.'.length) }));
  const made = join(folder, 'made');
  await writePeftAdapter({ path: made, tensors, rank: 2, alpha: 6, baseModel: REPO });
  const tar = pack();
  for (const name of await readdir(made)) tar.entry({ name }, await readFile(join(made, name)));
  tar.finalize();
  await pipeline(tar, createGzip(), createWriteStream(join(folder, 'checkpoint.tar.gz')));
  process.chdir(folder);
}, 60_000);

afterAll(async () => {
  process.chdir(home);
  vi.unstubAllEnvs();
  hub.closeAllConnections();
  await new Promise((resolve) => hub.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

it('every command of the guide does what it says', { timeout: 240_000 }, async () => {
  const commands = (await readFile(GUIDE, 'utf8')).split('\n').filter((line) => line.startsWith(`${PROGRAM}model `));
  expect(commands.length).toBeGreaterThan(5);
  const outputs: string[] = [];
  for (const command of commands) outputs.push(await runModel(command.slice(PROGRAM.length)));
  expect(outputs[0]).toMatch(/family +qwen3[\s\S]*context +32,768 tokens[\s\S]*licence +Apache-2.0/);
  expect(outputs[0]).toMatch(/parameters +8\.19 B\nactive parameters +8\.19 B/);
  expect(await runModel('model info --name Qwen/Qwen3-30B-A3B')).toMatch(
    /renderer +qwen3 \(also qwen3\+no-thinking\)[\s\S]*parameters +30\.50 B\nactive parameters +3\.30 B/,
  );
  // The figures of a model that is there are its own: 17,568 floats, a context of 128.
  expect(outputs[1]).toMatch(/family +smollm2\nrenderer +smollm2[\s\S]*context +128 tokens\nparameters +0\.0 M/);
  expect(outputs[1]).toMatch(
    /licence +Apache-2\.0[\s\S]*sampling takes +about 0\.3 GB[\s\S]*LoRA training +about 0\.\d GB/,
  );

  expect((await readPeftAdapter('my-adapter')).baseModel).toBe(REPO);
  const merged = await openModelFolder('my-model');
  const base = await openModelFolder(FIXTURE);
  const { source: gguf, metadata } = await openGguf('my-model.gguf');
  expect((await readdir('my-model')).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
  const adapted = 'model.layers.0.self_attn.q_proj.weight';
  expect(await merged.read(adapted)).not.toEqual(await base.read(adapted));
  const norm = 'model.norm.weight';
  expect(await merged.read(norm)).toEqual(await base.read(norm));
  const [exact, halved] = [await merged.read(adapted), await gguf.read(adapted)];
  for (const [i, value] of exact.entries())
    expect(Math.abs(halved[i] - value)).toBeLessThanOrEqual(Math.abs(value) * 2 ** -11 + 2 ** -25);
  expect(metadata.get('tokenizer.ggml.pre')?.value).toBe('smollm');
  for (const source of [merged, base, gguf]) await source.close();
});

it('the model that is shipped, and what it is trained to, say what they are', async () => {
  const nano = await runModel('model info --name nano');
  expect(nano).toMatch(/^family +nano$[\s\S]*^context +512 tokens$[\s\S]*^parameters +0\.\d M$[\s\S]*^LoRA training/m);
});
