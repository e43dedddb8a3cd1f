// Gemma 3 GGUF files read by our engine: what it computes from one is what it computes from the folder that it came from, bit
// for bit; of files that the `gguf` package wrote, in every type that it can write, what transformers computes; and what
// llama.cpp makes of the same file. And to the commands such a file is a model like any other.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, hasLlamaCpp, hasPython } from '../../conformance/models/places.ts';
import { openModel } from '../../src/cli/models.ts';
import { findPretrained, openVoice } from '../../src/cli/open-pretrained.ts';
import {
  EmbeddedBackend,
  exportGguf,
  loadPretrained,
  mergedModel,
  openGguf,
  openModelFolder,
  readPeftAdapter,
  writeMergedFolder,
  writePeftAdapter,
  type GgufEntry,
  type TensorToWrite,
  type WeightSource,
} from '../../src/engine/index.ts';
import { decodeF16, encodeF16 } from '../../src/engine/formats/half-floats.ts';
import { chatFormat, createChatRenderer } from '../../src/tokens/index.ts';
import { randomData } from '../../src/engine/test-support.ts';
import { decodeSafetensors } from '../../src/engine/safetensors.ts';
import { EmbeddedSampler } from '../../src/engine/sampler.ts';
import { SamplerRuntime } from '../../src/engine/whole-decoder.ts';
import { runModel } from './run-model.ts';
import { GEMMA_AS_LLAMA_CPP_HAS_IT, GEMMA_PIECES, LETTERS, VOCABULARY, withLayers } from './tiny-gguf.ts';

const FIXTURE = fileURLToPath(new URL('../../src/engine/fixtures/gemma3', import.meta.url));

/** Seven layers: five that slide, a full one, one that slides. */
const LAYERS = 7;
const PLAIN = { ...GEMMA_AS_LLAMA_CPP_HAS_IT, num_hidden_layers: LAYERS };
const SCALED = { rope_scaling: { rope_type: 'linear', factor: 8 }, final_logit_softcapping: 3 };

type Variant = {
  readonly config: Readonly<Record<string, unknown>>;
  /** What a file says of it beyond what llama.cpp's converter writes. */
  readonly keys: Readonly<Record<string, number>>;
};
const VARIANTS: Readonly<Record<string, Variant>> = {
  plain: { config: PLAIN, keys: {} },
  scaled: { config: { ...PLAIN, ...SCALED }, keys: {} },
  'all layers full': { config: { ...PLAIN, sliding_window_pattern: 1 }, keys: {} },
  'a pattern and a local base of its own': {
    config: { ...PLAIN, sliding_window_pattern: 3, rope_local_base_freq: 100.5 },
    keys: { 'attention.sliding_window_pattern': 3, 'rope.freq_base_swa': 100.5 },
  },
};
const TYPES = ['F32', 'F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1'] as const;

let folder = '';
let ids: number[][] = [];
const place = (...parts: readonly string[]): string => join(folder, parts.join('-').replaceAll(' ', '-'));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-gemma-files-'));
  const expected = decodeSafetensors(await readFile(join(FIXTURE, 'expected.safetensors')), 'gemma3').tensors;
  ids = [0, 1].map((i) => [...expected.get(`ids.${i}`)!.data]);
  for (const [name, { config }] of Object.entries(VARIANTS)) await writeFolder(place(name), config);
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The fixture with other settings, its matrices rounded to what F16 holds: norms are as they were. */
async function writeFolder(path: string, changes: Readonly<Record<string, unknown>>): Promise<void> {
  const source = await openModelFolder(FIXTURE);
  const tensors = withLayers(mergedModel({ source }).tensors, LAYERS).map((tensor): TensorToWrite => ({
    ...tensor,
    async read() {
      const data = await tensor.read();
      if (tensor.shape.length < 2) return data;
      const bits = new Uint16Array(data.length);
      encodeF16(data, bits);
      const rounded = new Float32Array(data.length);
      decodeF16(bits, rounded);
      return rounded;
    },
  }));
  await writeMergedFolder({ path, config: { ...(source.config as Record<string, unknown>), ...changes }, tensors });
  await source.close();
}

/** Of all tokens at every position. Closes the source. */
async function logprobs(source: WeightSource, rows: readonly number[][]): Promise<number[][]> {
  const { config, weights } = await loadPretrained(source);
  await source.close();
  await using runtime = new SamplerRuntime(config, { threads: 1 });
  await using sampler = EmbeddedSampler.of(runtime, weights, 0);
  const answers: number[][] = [];
  for (const row of rows) {
    const targets = row.flatMap(() => Array.from({ length: VOCABULARY }, (_, token) => token));
    answers.push([...(await sampler.scorePrompt([...row, 0], { targets })).targets!]);
  }
  return answers;
}

/** Largest difference relative to the largest entry. */
function relativeError(found: readonly number[], expected: readonly number[]): number {
  expect(found.length).toBe(expected.length);
  const worst = Math.max(...expected.map((value, i) => Math.abs(value - found[i])));
  return worst / Math.max(...expected.map(Math.abs));
}

it.each(['plain', 'scaled'])(
  'the file of a model with settings %s gives what its folder gives, bit for bit',
  { timeout: 120_000 },
  async (name) => {
    const source = await openModelFolder(place(name));
    const config = source.config as Readonly<Record<string, unknown>>;
    const path = place(name, 'own.gguf');
    await exportGguf({
      path,
      type: 'F16',
      config,
      ...{ tensors: mergedModel({ source }).tensors },
      tokenizer: LETTERS,
      name,
    });
    const opened = await openGguf(path);
    expect(opened.types.toSorted()).toEqual(['F16', 'F32']);
    const theirs = await logprobs(opened.source, ids);
    expect(theirs).toEqual(await logprobs(source, ids));
  },
);

describe.skipIf(!hasPython)('files that the gguf package wrote', () => {
  const cases = [
    ...TYPES.map((type) => ['plain', type] as const),
    ...Object.keys(VARIANTS).flatMap((name) => (name === 'plain' ? [] : [[name, 'F16'] as const])),
  ];
  const expected = new Map<string, number[][]>();

  beforeAll(async () => {
    const jobs = cases.map(([name, type]) => ({
      ...{ folder: place(name), file: place(name, type), type, tokenizer: GEMMA_PIECES, ids },
      keys: VARIANTS[name].keys,
    }));
    const answers = await ask<number[][][][]>('gguf-gemma-peer.py', { input: jobs });
    for (const [i, [name, type]] of cases.entries()) {
      expected.set(
        place(name, type),
        answers[i].map((rows) => rows.flat()),
      );
    }
  }, 300_000);

  it.each(cases)('%s in %s: our engine gives what transformers gives', { timeout: 120_000 }, async (name, type) => {
    const { source, types } = await openGguf(place(name, type));
    expect(types).toContain(type);
    const found = (await logprobs(source, ids)).flat();
    const there = expected.get(place(name, type))!.flat();
    const error = relativeError(found, there);
    process.stdout.write(`${name}, ${type}: ${error.toExponential(1)} from transformers\n`);
    expect(error).toBeLessThan(1e-5);
    // Settings and rounding show: another file of these gives something else, but for F16, which holds the weights as they are.
    for (const [path, other] of expected) {
      const same = [type, type === 'F16' ? 'F32' : type === 'F32' ? 'F16' : type].map((each) => place(name, each));
      if (!same.includes(path)) expect(relativeError(other.flat(), there), path).toBeGreaterThan(1e-5);
    }
  });

  it.skipIf(!hasLlamaCpp).each(Object.keys(VARIANTS))(
    '%s: our engine gives what llama.cpp gives from the same file',
    { timeout: 120_000 },
    async (name) => {
      const path = place(name, 'F16');
      const [row] = ids.map((each) => each.slice(0, 20));
      const [ours] = await logprobs((await openGguf(path)).source, [row]);
      const theirs = await ask<number[][]>('llama-run.mjs', { input: { logprobs: { file: path, ids: row } } });
      const worst = (shift: number): number =>
        Math.max(...theirs.flat().map((value, i) => Math.abs(value - ours[(i + shift) % ours.length])));
      process.stdout.write(`${name}: largest difference of a log-probability ${worst(0).toFixed(4)} from llama.cpp\n`);
      // Weights, activations and the cache are rounded to 16 bits there.
      expect(worst(0)).toBeLessThan(0.05);
      expect(worst(VOCABULARY)).toBeGreaterThan(1);
    },
  );
});

describe('to the commands a Gemma 3 file', () => {
  const TEMPLATE = "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m['content'] }}{% endfor %}";
  const TOKENIZER = new Map<string, GgufEntry>([
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.pre', { type: 'string', value: 'default' }],
    ['tokenizer.ggml.tokens', { type: 'array', element: 'string', value: GEMMA_PIECES.tokens }],
    ['tokenizer.ggml.scores', { type: 'array', element: 'float32', value: GEMMA_PIECES.scores }],
    ['tokenizer.ggml.token_type', { type: 'array', element: 'int32', value: GEMMA_PIECES.types }],
    ['tokenizer.ggml.bos_token_id', { type: 'uint32', value: 2 }],
    ['tokenizer.ggml.eos_token_id', { type: 'uint32', value: 1 }],
    ['tokenizer.ggml.unknown_token_id', { type: 'uint32', value: 3 }],
    ['tokenizer.ggml.add_space_prefix', { type: 'bool', value: false }],
    ['tokenizer.chat_template', { type: 'string', value: TEMPLATE }],
  ]);
  const idOf = (text: string): number => GEMMA_PIECES.tokens.indexOf(text);
  const file = (): string => place('gemma-3-1b-it-F16.gguf');

  beforeAll(async () => {
    const source = await openModelFolder(place('plain'));
    const { config, tensors } = mergedModel({ source });
    await exportGguf({ path: file(), type: 'F16', config, tensors, tokenizer: TOKENIZER, name: 'gemma' });
    await source.close();
    const expected = decodeSafetensors(await readFile(join(FIXTURE, 'expected.safetensors')), 'gemma3').tensors;
    const adapter = [...expected.values()]
      .filter(({ name }) => /^lora\..*lora_[AB]/.test(name))
      .map((tensor) => ({ ...tensor, name: tensor.name.slice('lora.'.length) }));
    await writePeftAdapter({ path: place('adapter'), tensors: adapter, rank: 2, alpha: 6, baseModel: null });
  }, 60_000);

  it('speaks as its tokens, its template and its name say', async () => {
    const { tokenizer, endTokens, template } = await openVoice((await findPretrained(`gguf:${file()}`))!);
    expect(endTokens).toEqual([1, idOf('<end_of_turn>')]);
    expect(template).toEqual({ template: TEMPLATE, bosToken: '<bos>', eosToken: '<eos>' });
    const chat = createChatRenderer({ format: chatFormat('gemma3'), tokenizer });
    const tokens = chat.render({ messages: [{ role: 'user', content: 'the  user' }] });
    expect(tokens.map((id) => GEMMA_PIECES.tokens[id])).toEqual([
      ...['<bos>', '<start_of_turn>', 'user', '\n', 't', 'he', '  ', 'user', '<end_of_turn>', '\n'],
      ...['<start_of_turn>', 'model', '\n'],
    ]);
    expect((await openModel(`gguf:${file()}`, { settings: { maxActionTokens: 8 } })).renderer.name).toContain('gemma3');
    expect(await runModel(`model info --name gguf:${file()}`)).toMatch(
      /model +google\/gemma-3-1b-it\nfamily +gemma3\nrenderer +gemma3[\s\S]*element types +F16, F32/,
    );
  });

  it('trains adapters as its folder does, bit for bit', { timeout: 120_000 }, async () => {
    const data = randomData('gemma', [9, 12], VOCABULARY);
    const losses = async (opened: WeightSource): Promise<number[][][]> => {
      const { config, weights } = await loadPretrained(opened);
      await opened.close();
      await using backend = new EmbeddedBackend({ modelName: 'gemma', config, weights, threads: 1 });
      const trainer = await backend.createTrainer({ lora: { rank: 2, seed: 1 } });
      const found: number[][][] = [];
      for (let step = 0; step < 3; step++) {
        const { logprobs: scores } = await trainer.forwardBackward(data, 'cross_entropy');
        found.push(scores.map((each) => [...each]));
        await trainer.optimStep({ learningRate: 0.02 });
      }
      return found;
    };
    const fromFile = await losses((await openGguf(file())).source);
    expect(fromFile).toEqual(await losses(await openModelFolder(place('plain'))));
    expect(relativeError(fromFile[2].flat(), fromFile[0].flat())).toBeGreaterThan(1e-3);
  });

  it('is a base for exports, as a folder and as a file', { timeout: 120_000 }, async () => {
    const from = `--base gguf:${file()} --from ${place('adapter')}`;
    await runModel(`model export ${from} --merged ${place('merged')}`);
    await runModel(`model export ${from} --gguf ${place('merged.gguf')}`);
    const source = await openModelFolder(place('plain'));
    const model = mergedModel({ source, adapter: await readPeftAdapter(place('adapter')) });
    await writeMergedFolder({ path: place('expected'), ...model });
    const merged = await openModelFolder(place('merged'));
    expect(merged.config).toMatchObject({ eos_token_id: [1, idOf('<end_of_turn>')], model_type: 'gemma3_text' });
    const there = await logprobs(await openModelFolder(place('expected')), ids);
    expect(await logprobs(merged, ids)).toEqual(there);
    expect(relativeError((await logprobs(source, ids)).flat(), there.flat())).toBeGreaterThan(1e-2);
    const again = await openGguf(place('merged.gguf'));
    for (const [key, { value }] of TOKENIZER) expect(again.metadata.get(key)?.value, key).toEqual(value);
    // What was folded in is rounded to 16 bits.
    expect(relativeError((await logprobs(again.source, ids)).flat(), there.flat())).toBeLessThan(1e-2);
    const voices = await Promise.all(
      [place('merged'), `gguf:${file()}`].map(async (name) => openVoice((await findPretrained(name))!)),
    );
    const [of, its] = voices.map(({ tokenizer, endTokens, template }) => {
      const cuts = [tokenizer.encode('<bos>the  user\n\nis', { control: true }), tokenizer.encode('is <b>sure</b>é')];
      return { endTokens, template, cuts };
    });
    expect(of).toEqual(its);
  });
});
