// GGUF files of all architectures written and read back, with `@huggingface/gguf` as a second reader of the head, and
// what damaged, hostile or foreign files are told.

import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gguf as parseWithPackage } from '@huggingface/gguf';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRng } from '../../util/index.ts';
import type { NamedTensor } from '../safetensors.ts';
import { exportGguf } from './gguf-export.ts';
import { encodeGgufHeader } from './gguf-header-writer.ts';
import { readGgufHeader } from './gguf-header.ts';
import { openGguf } from './gguf-source.ts';
import type { GgufEntry, GgufTensor } from './gguf-types.ts';
import { encodeF16 } from './half-floats.ts';
import { llama3RopeFactors, llama3RopeOf } from './rope-factors.ts';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-gguf-'));
  path = join(folder, 'model.gguf');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const WIDTH = 64;
const BASE = {
  vocab_size: 40,
  hidden_size: WIDTH,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 96,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
};
const LLAMA3_ROPE = {
  rope_type: 'llama3',
  factor: 32,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 8192,
};
const LAYER_TYPES = ['sliding_attention', 'sliding_attention'];
const MODELS: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['llama', { ...BASE, model_type: 'llama', tie_word_embeddings: true, attention_bias: false, mlp_bias: false }],
  ['llama 3.2', { ...BASE, model_type: 'llama', tie_word_embeddings: false, rope_scaling: LLAMA3_ROPE }],
  ['qwen2', { ...BASE, model_type: 'qwen2', tie_word_embeddings: false }],
  ['qwen3', { ...BASE, model_type: 'qwen3', tie_word_embeddings: true, head_dim: 32, attention_bias: false }],
  [
    'gemma3',
    {
      ...BASE,
      model_type: 'gemma3_text',
      tie_word_embeddings: true,
      sliding_window: 128,
      layer_types: LAYER_TYPES,
      query_pre_attn_scalar: 16,
      rope_local_base_freq: 10_000,
      final_logit_softcapping: null,
      hidden_activation: 'gelu_pytorch_tanh',
    },
  ],
];

/** Every tensor of such a model in Hugging Face's names, values that F16 holds exactly. */
function tensorsOf(config: Readonly<Record<string, unknown>>): NamedTensor[] {
  const { model_type: type, head_dim: headDim } = config as { model_type: string; head_dim: number };
  const [q, kv, inner] = [4 * headDim, 2 * headDim, BASE.intermediate_size];
  const shapes: [string, number[]][] = [
    ['model.embed_tokens.weight', [BASE.vocab_size, WIDTH]],
    ['model.norm.weight', [WIDTH]],
  ];
  if (config.tie_word_embeddings === false) shapes.push(['lm_head.weight', [BASE.vocab_size, WIDTH]]);
  for (let i = 0; i < BASE.num_hidden_layers; i++) {
    const block: [string, number[]][] = [
      ['input_layernorm.weight', [WIDTH]],
      ['post_attention_layernorm.weight', [WIDTH]],
      ['self_attn.q_proj.weight', [q, WIDTH]],
      ['self_attn.k_proj.weight', [kv, WIDTH]],
      ['self_attn.v_proj.weight', [kv, WIDTH]],
      ['self_attn.o_proj.weight', [WIDTH, q]],
      ['mlp.gate_proj.weight', [inner, WIDTH]],
      ['mlp.up_proj.weight', [inner, WIDTH]],
      ['mlp.down_proj.weight', [WIDTH, inner]],
    ];
    if (type === 'qwen2') {
      block.push(['self_attn.q_proj.bias', [q]], ['self_attn.k_proj.bias', [kv]], ['self_attn.v_proj.bias', [kv]]);
    }
    if (type === 'qwen3' || type === 'gemma3_text') {
      block.push(['self_attn.q_norm.weight', [headDim]], ['self_attn.k_norm.weight', [headDim]]);
    }
    if (type === 'gemma3_text') {
      block.push(['pre_feedforward_layernorm.weight', [WIDTH]], ['post_feedforward_layernorm.weight', [WIDTH]]);
    }
    shapes.push(...block.map(([name, shape]): [string, number[]] => [`model.layers.${i}.${name}`, shape]));
  }
  return shapes.map(([name, shape]) => {
    const rng = createRng('gguf-test', 1, name);
    const length = shape.reduce((a, b) => a * b);
    return { name, shape, data: Float32Array.from({ length }, () => Math.floor(rng.next() * 256) / 256 - 0.5) };
  });
}

const TOKENIZER = new Map<string, GgufEntry>([
  ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
  ['tokenizer.ggml.tokens', { type: 'array', element: 'string', value: ['a', '\ufeffb', 'ü😀', ''] }],
  ['tokenizer.ggml.token_type', { type: 'array', element: 'int32', value: [1, 3, 1, 1] }],
  ['tokenizer.ggml.add_bos_token', { type: 'bool', value: false }],
  ['tokenizer.ggml.eos_token_id', { type: 'uint32', value: 2 }],
]);

const halfBits = (value: number): number => {
  const bits = new Uint16Array(1);
  encodeF16(Float32Array.of(value), bits);
  return bits[0];
};

const write = (config: Readonly<Record<string, unknown>>, type: 'F16' | 'Q8_0' = 'F16'): Promise<void> =>
  exportGguf({
    path,
    config,
    tensors: tensorsOf(config).map(({ name, shape, data }) => ({ name, shape, read: () => data })),
    type,
    tokenizer: TOKENIZER,
    name: 'test',
  });

describe('GGUF files', () => {
  it.each(MODELS)('of %s come back with the same config and, from F16, the same weights', async (_name, config) => {
    await write(config);
    const { source, metadata, types } = await openGguf(path);
    for (const [key, value] of Object.entries(config)) {
      expect((source.config as Record<string, unknown>)[key], key).toEqual(value);
    }
    expect(types.toSorted()).toEqual(['F16', 'F32']);
    const tensors = tensorsOf(config);
    expect([...source.names].sort()).toEqual(tensors.map(({ name }) => name).sort());
    for (const { name, shape, data } of tensors) {
      expect(source.shapeOf(name), name).toEqual(shape);
      const read = await source.read(name);
      expect(Buffer.from(read.buffer).equals(Buffer.from(data.buffer)), name).toBe(true);
    }
    for (const [key, entry] of TOKENIZER) expect(metadata.get(key), key).toEqual(entry);
    await source.close();
  });

  it('store the rows of q of a llama in pairs, as llama.cpp has them, and of no other architecture', async () => {
    const [, llama] = MODELS[0];
    await write(llama);
    const { tensors, dataStart } = await readGgufHeader(path);
    const stored = tensors.find(({ name }) => name === 'blk.0.attn_q.weight')!;
    const { source } = await openGguf(path);
    const q = await source.read('model.layers.0.self_attn.q_proj.weight');
    await source.close();
    // Head 1, pair 3: members 3 and 3 + 8 of 16 in Hugging Face's halves, rows 6 and 7 in pairs.
    const bytes = await readFile(path);
    const row = (index: number): number => bytes.readUInt16LE(dataStart + stored.offset + (16 + index) * WIDTH * 2);
    expect(row(6)).toBe(halfBits(q[(16 + 3) * WIDTH]));
    expect(row(7)).toBe(halfBits(q[(16 + 11) * WIDTH]));
  });

  it('have a head that another reader understands the same', async () => {
    await write(MODELS[3][1], 'Q8_0');
    const ours = await readGgufHeader(path);
    const theirs = await parseWithPackage(path, { allowLocalFile: true });
    expect(Number(theirs.tensorDataOffset)).toBe(ours.dataStart);
    expect(
      theirs.tensorInfos.map(({ name, shape, dtype, offset }) => [name, shape.map(Number), dtype, Number(offset)]),
    ).toEqual(ours.tensors.map(({ name, shape, type, offset }) => [name, [...shape].reverse(), type, offset]));
    const metadata = theirs.metadata as Record<string, unknown>;
    for (const [key, { value }] of ours.metadata) {
      // It drops a byte order mark at the beginning of a text, ours does not.
      if (key !== 'tokenizer.ggml.tokens') expect(metadata[key], key).toEqual(value);
    }
  });

  it('are within half a step of each block in Q8_0', async () => {
    const [, config] = MODELS[1];
    await write(config, 'Q8_0');
    const { source } = await openGguf(path);
    for (const { name, shape, data } of tensorsOf(config)) {
      const read = await source.read(name);
      const largest = data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      const bound = shape.length < 2 ? 0 : largest / 127 / 2 + largest * 2 ** -11;
      expect(Math.max(...read.map((value, i) => Math.abs(value - data[i]))), name).toBeLessThanOrEqual(bound);
    }
    await source.close();
  });

  it('are refused in every truncation, and after any flipped byte of the head read or refused, never crashed on', async () => {
    await write(MODELS[0][1]);
    const whole = await readFile(path);
    const { dataStart } = await readGgufHeader(path);
    for (const length of [0, 3, 10, 100, dataStart - 1, dataStart + 10, whole.length - 64]) {
      await writeFile(path, whole.subarray(0, length));
      await expect(openGguf(path), `${length} bytes`).rejects.toMatchObject({ boundary: 'store' });
    }
    for (let at = 0; at < dataStart; at += 7) {
      const damaged = Uint8Array.from(whole);
      damaged[at] ^= 0x55;
      await writeFile(path, damaged);
      const opened = await openGguf(path).catch((error: unknown) => error);
      if (opened instanceof Error) expect(opened, `byte ${at}`).toMatchObject({ name: 'TabwrightError' });
      else await (opened as Awaited<ReturnType<typeof openGguf>>).source.close();
    }
  });

  it('are refused for what their tensors are: unknown types by name, unknown tensors, foreign shapes', async () => {
    const head = (tensor: Partial<GgufTensor>, more: readonly [string, GgufEntry][] = []): Promise<void> => {
      const metadata = new Map<string, GgufEntry>([
        ['general.architecture', { type: 'string', value: 'llama' }],
        ...more,
      ]);
      const table = [{ name: 'token_embd.weight', shape: [2, 32], type: 0, offset: 0, ...tensor }];
      return writeFile(path, Buffer.concat([encodeGgufHeader(metadata, table), Buffer.alloc(256)]));
    };
    await head({ type: 10 });
    await expect(openGguf(path)).rejects.toThrow(/"token_embd.weight" has the type Q2_K; read here are F32, F16, Q4_0/);
    await head({ type: 99 });
    await expect(openGguf(path)).rejects.toThrow(/type number 99/);
    await head({ name: 'blk.0.ffn_gate_exps.weight' });
    await expect(openGguf(path)).rejects.toThrow(/"blk.0.ffn_gate_exps.weight" does not belong/);
    await head({ shape: [2, 33], type: 8 });
    await expect(openGguf(path)).rejects.toThrow(/rows of 33/);
    await head({ shape: [2 ** 40, 32] });
    await expect(openGguf(path)).rejects.toThrow(/cut short/);
    await head({}, [['llama.expert_count', { type: 'uint32', value: 8 }]]);
    await expect(openGguf(path)).rejects.toThrow(/"llama.expert_count", which is not known here/);
    await head({}, [['general.alignment', { type: 'uint32', value: 0 }]]);
    await expect(openGguf(path)).rejects.toThrow(/alignment/);
  });

  describe('of Gemma 3', () => {
    const KEYS: Readonly<Record<string, number>> = {
      ...{ context_length: 512, embedding_length: 96, block_count: 7, feed_forward_length: 96 },
      ...{ 'attention.head_count': 4, 'attention.key_length': 16, 'attention.value_length': 16 },
      ...{ 'attention.layer_norm_rms_epsilon': 1e-6, 'attention.sliding_window': 128, 'rope.freq_base': 1e6 },
    };
    const head = async (change: Readonly<Record<string, number | undefined>>, tensor = 'token_embd.weight') => {
      const entries = Object.entries({ ...KEYS, ...change }).flatMap(([key, value]): [string, GgufEntry][] =>
        value === undefined ? [] : [[`gemma3.${key}`, { type: Number.isInteger(value) ? 'uint32' : 'float32', value }]],
      );
      const metadata = new Map<string, GgufEntry>([
        ['general.architecture', { type: 'string', value: 'gemma3' }],
        ...entries,
      ]);
      const table = [
        { name: 'token_embd.weight', shape: [2, 32], type: 0, offset: 0 },
        ...(tensor === 'token_embd.weight' ? [] : [{ name: tensor, shape: [8], type: 0, offset: 256 }]),
      ];
      await writeFile(path, Buffer.concat([encodeGgufHeader(metadata, table), Buffer.alloc(512)]));
    };
    const configOf = async (change: Readonly<Record<string, number | undefined>>): Promise<Record<string, unknown>> => {
      await head(change);
      const { source } = await openGguf(path);
      await source.close();
      return source.config as Record<string, unknown>;
    };
    const layers = (pattern: string): string[] =>
      [...pattern].map((each) => (each === 'F' ? 'full_attention' : 'sliding_attention'));

    it('have what llama.cpp takes where they do not say it', async () => {
      expect(await configOf({})).toMatchObject({
        ...{ layer_types: layers('sssssFs'), sliding_window: 128, rope_local_base_freq: 10_000, rope_theta: 1e6 },
        ...{ query_pre_attn_scalar: 16, final_logit_softcapping: null, tie_word_embeddings: true },
        ...{ hidden_activation: 'gelu_pytorch_tanh', attn_logit_softcapping: null, use_bidirectional_attention: false },
      });
      // The 27B model, which is told by its layers, scales by the width that its heads would have.
      expect(await configOf({ block_count: 62 })).toMatchObject({ query_pre_attn_scalar: 24 });
      const full = { layer_types: layers('FFFFFFF'), sliding_window: null };
      expect(await configOf({ 'attention.sliding_window': undefined })).toMatchObject(full);
      expect(await configOf({ 'attention.sliding_window': 0 })).toMatchObject(full);
    });

    it('have what they say', async () => {
      const said = { 'attention.sliding_window_pattern': 3, 'rope.freq_base_swa': 0.5, final_logit_softcapping: 2.5 };
      expect(await configOf({ ...said, 'attention.head_count_kv': 2, 'attention.key_length': 16 })).toMatchObject({
        ...{ layer_types: layers('ssFssFs'), rope_local_base_freq: 0.5, final_logit_softcapping: 2.5 },
        ...{ num_key_value_heads: 2, head_dim: 16, query_pre_attn_scalar: 16 },
      });
      expect(await configOf({ 'attention.sliding_window_pattern': 0 })).toMatchObject({
        layer_types: layers('sssssss'),
      });
      expect(await configOf({ 'vision.block_count': 27, 'mm.tokens_per_image': 256 })).toMatchObject({
        num_hidden_layers: 7,
      });
    });

    it('are refused for keys and tensors that are not understood, and others for keys of these', async () => {
      await head({ 'attention.scale': 2 });
      await expect(openGguf(path)).rejects.toThrow(/"gemma3.attention.scale", which is not known here/);
      await head({ 'attention.key_length_swa': 8 });
      await expect(openGguf(path)).rejects.toThrow(/"gemma3.attention.key_length_swa", which is not known here/);
      await head({ 'rope.dimension_count': 8 });
      await expect(openGguf(path)).rejects.toThrow(/"gemma3.rope.dimension_count" = 8: only 16/);
      await head({}, 'rope_freqs.weight');
      await expect(openGguf(path)).rejects.toThrow(/"rope_freqs.weight" does not belong to the architecture gemma3/);
      await head({}, 'v.blk.0.ln1.weight');
      await expect(openGguf(path)).rejects.toThrow(/"v.blk.0.ln1.weight" does not belong/);
      const key: [string, GgufEntry] = ['qwen3.rope.freq_base_swa', { type: 'float32', value: 100 }];
      const [, qwen3] = MODELS[3];
      const tensors = tensorsOf(qwen3).map(({ name, shape, data }) => ({ name, shape, read: () => data }));
      const tokenizer = new Map([...TOKENIZER, key]);
      await exportGguf({ path, config: qwen3, tensors, type: 'F16', tokenizer, name: 'x', overwrite: true });
      await expect(openGguf(path)).rejects.toThrow(/"qwen3.rope.freq_base_swa" = 100: it is read for gemma3 only/);
    });
  });

  it('of Gemma 3 multiply by exactly the factors that its norms multiply by', async () => {
    // Fine, coarse, at both ends and beyond: the file holds 1 + w in 32 bits, and the engine adds the 1 again.
    const norms = Float32Array.from([
      0,
      1e-9,
      -1e-9,
      0.1,
      -0.1,
      -0.5,
      -0.999999,
      -1,
      -1.7,
      3.3,
      61.7,
      -4.1,
      2 ** -24,
      1 / 3,
    ]);
    const norm = Float32Array.from({ length: WIDTH }, (_, i) => norms[i % norms.length]);
    const [, gemma] = MODELS[4];
    const tensors = tensorsOf(gemma).map(({ name, shape, data }) => ({
      ...{ name, shape },
      read: () => (name === 'model.norm.weight' ? norm : data),
    }));
    await exportGguf({ path, config: gemma, tensors, type: 'F16', tokenizer: TOKENIZER, name: 'x' });
    const { source } = await openGguf(path);
    const read = await source.read('model.norm.weight');
    await source.close();
    expect(read.map((w) => Math.fround(1 + w))).toEqual(norm.map((w) => Math.fround(1 + w)));
  });

  it('of other architectures, versions and formats are refused by name', async () => {
    const metadata = new Map<string, GgufEntry>([['general.architecture', { type: 'string', value: 'mamba' }]]);
    await writeFile(path, encodeGgufHeader(metadata, []));
    await expect(openGguf(path)).rejects.toThrow(/"mamba"; read here are llama, qwen2, qwen3, gemma3/);
    const bytes = encodeGgufHeader(metadata, []);
    bytes[4] = 1;
    await writeFile(path, bytes);
    await expect(openGguf(path)).rejects.toThrow(/GGUF version 1/);
    await writeFile(path, 'PK\u0003\u0004 and so on');
    await expect(openGguf(path)).rejects.toThrow(/does not begin with "GGUF"/);
    await truncate(path, 0);
    await expect(openGguf(path)).rejects.toThrow(/cut short/);
    await expect(openGguf(join(folder, 'none.gguf'))).rejects.toThrow(/ENOENT/);
  });

  it('with a head of several reads keep texts at the borders whole', async () => {
    const long = Array.from({ length: 400 }, (_, i) => String(i % 10).repeat(5_000 + i));
    const metadata = new Map<string, GgufEntry>([['a', { type: 'array', element: 'string', value: long }]]);
    await writeFile(path, encodeGgufHeader(metadata, []));
    expect((await readGgufHeader(path)).metadata.get('a')?.value).toEqual(long);
  });
});

describe('what a GGUF file cannot say', () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ['another model type', { model_type: 'mistral' }, /model_type is "mistral"/],
    ['an unknown rope', { model_type: 'llama', rope_scaling: { rope_type: 'longrope' } }, /rope_type is "longrope"/],
    ['a sliding window of Qwen', { model_type: 'qwen2', use_sliding_window: true }, /use_sliding_window/],
    [
      'a scale of its own',
      { model_type: 'gemma3_text', sliding_window: 9, query_pre_attn_scalar: 7 },
      /llama.cpp takes 16/,
    ],
  ])('is refused when it is written: %s', async (_what, change, message) => {
    await expect(
      exportGguf({ path, config: { ...BASE, ...change }, tensors: [], type: 'F16', tokenizer: TOKENIZER, name: 'x' }),
    ).rejects.toThrow(message);
  });
});

describe('Llama 3 rope factors', () => {
  it('are recognised from the factors, and only if they are of the published kind', () => {
    const rope = { factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalPositions: 8192 };
    const shape = { theta: 500_000, headDim: 128 };
    const factors = llama3RopeFactors(rope, shape);
    expect([factors[0], factors.at(-1)]).toEqual([1, 8]);
    expect(llama3RopeOf(factors, shape)).toEqual(rope);
    expect(llama3RopeOf(llama3RopeFactors({ ...rope, highFrequencyFactor: 3 }, shape), shape)).toBeUndefined();
  });
});
