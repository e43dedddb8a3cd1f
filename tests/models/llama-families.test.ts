// Tiny random models of every family as F16 GGUF files in llama.cpp: at every position the log-probabilities of all tokens
// are those of our engine on the folder. What is wrong in a file (a name, the order of rows, a norm, rotary factors, a
// key that llama.cpp needs) shows here; how real weights round does not.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, hasLlamaCpp } from '../../conformance/models/places.ts';
import {
  exportGguf,
  loadPretrained,
  mergedTensors,
  openModelFolder,
  writeMergedFolder,
  type GgufEntry,
  type TensorToWrite,
} from '../../src/engine/index.ts';
import { decodeSafetensors } from '../../src/engine/safetensors.ts';
import { EmbeddedSampler } from '../../src/engine/sampler.ts';
import { SamplerRuntime } from '../../src/engine/whole-decoder.ts';

const FIXTURES = fileURLToPath(new URL('../../src/engine/fixtures/', import.meta.url));
const VOCABULARY = 64;

/** What llama.cpp fixes for Gemma 3 and the fixture has otherwise; our exporter refuses other values by name. */
const GEMMA = {
  query_pre_attn_scalar: 16,
  rope_local_base_freq: 10_000,
  rope_theta: 1_000_000,
  num_hidden_layers: 6,
  sliding_window_pattern: 6,
};
const FAMILIES: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['llama', {}],
  ['llama-3', {}],
  ['llama-biases', {}],
  ['qwen2', {}],
  ['qwen3', {}],
  ['gemma3', GEMMA],
];

/** Letters enough for the fixtures' ids. llama.cpp opens no file without a vocabulary. */
const tokenizer = new Map<string, GgufEntry>([
  ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
  ['tokenizer.ggml.pre', { type: 'string', value: 'gpt-2' }],
  [
    'tokenizer.ggml.tokens',
    {
      type: 'array',
      element: 'string',
      value: Array.from({ length: VOCABULARY }, (_, i) => (i === 0 ? 'Ċ' : String.fromCodePoint(0x21 + i))),
    },
  ],
  ['tokenizer.ggml.token_type', { type: 'array', element: 'int32', value: Array<number>(VOCABULARY).fill(1) }],
  ['tokenizer.ggml.merges', { type: 'array', element: 'string', value: [] }],
]);

let folder = '';

describe.skipIf(!hasLlamaCpp)('tiny models in llama.cpp', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tabwright-families-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(FAMILIES)('%s gives what our engine gives', { timeout: 300_000 }, async (name, changes) => {
    const path = join(folder, name);
    const fixture = await openModelFolder(join(FIXTURES, name));
    const config = { ...(fixture.config as Record<string, unknown>), ...changes };
    const layers = config.num_hidden_layers as number;
    await writeMergedFolder({ path, config, tensors: withLayers(mergedTensors({ source: fixture }), layers) });
    await fixture.close();
    const source = await openModelFolder(path);
    const tensors = mergedTensors({ source });
    await exportGguf({ path: `${path}.gguf`, type: 'F16', config, tensors, tokenizer, name });
    const expected = decodeSafetensors(await readFile(join(FIXTURES, name, 'expected.safetensors')), name).tensors;
    const ids = [...expected.get('ids.0')!.data].slice(0, 20);

    const model = await loadPretrained(source);
    await source.close();
    await using runtime = new SamplerRuntime(model.config, { threads: 1 });
    await using sampler = EmbeddedSampler.of(runtime, model.weights, 0);
    const every = ids.flatMap(() => Array.from({ length: VOCABULARY }, (_, token) => token));
    const ours = [...(await sampler.scorePrompt([...ids, 0], { targets: every })).targets!];

    const theirs = await ask<number[][]>('llama-run.mjs', { input: { logprobs: { file: `${path}.gguf`, ids } } });
    expect(theirs.map((row) => row.length)).toEqual(ids.map(() => VOCABULARY));
    const worst = (shift: number): number =>
      Math.max(...theirs.flat().map((value, i) => Math.abs(value - ours[(i + shift) % ours.length])));
    process.stdout.write(`${name}: largest difference of a log-probability ${worst(0).toFixed(4)}\n`);
    // Weights, activations and the cache are rounded to 16 bits there.
    expect(worst(0)).toBeLessThan(0.05);
    // Positions do differ: the bound would see another one's.
    expect(worst(VOCABULARY)).toBeGreaterThan(1);
  });
});

/** The fixture's layers again until there are as many: Gemma 3 has its first full one in the sixth place. */
function withLayers(tensors: readonly TensorToWrite[], layers: number): TensorToWrite[] {
  const layer = /(?<=^model\.layers\.)\d+/;
  const there = 1 + Math.max(...tensors.map(({ name }) => Number(layer.exec(name)?.[0] ?? 0)));
  return tensors.flatMap((tensor) => {
    const at = layer.exec(tensor.name);
    if (!at) return [tensor];
    const places = Array.from({ length: layers }, (_, i) => i).filter((i) => i % there === Number(at[0]));
    return places.map((place) => ({ ...tensor, name: tensor.name.replace(layer, String(place)) }));
  });
}
