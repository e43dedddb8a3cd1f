// Tiny random models of every family as F16 GGUF files in llama.cpp: at every position the log-probabilities of all tokens
// are those of our engine on the folder. What is wrong in a file (a name, the order of rows, a norm, rotary factors, a
// key that llama.cpp needs) shows here; how real weights round does not.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, hasLlamaCpp } from '../../conformance/models/places.ts';
import { exportGguf, loadPretrained, mergedModel, openModelFolder, writeMergedFolder } from '../../src/engine/index.ts';
import { decodeSafetensors } from '../../src/engine/safetensors.ts';
import { EmbeddedSampler } from '../../src/engine/sampler.ts';
import { SamplerRuntime } from '../../src/engine/whole-decoder.ts';
import { GEMMA_AS_LLAMA_CPP_HAS_IT, LETTERS, VOCABULARY, withLayers } from './tiny-gguf.ts';

const FIXTURES = fileURLToPath(new URL('../../src/engine/fixtures/', import.meta.url));

const FAMILIES: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['llama', {}],
  ['llama-3', {}],
  ['llama-biases', {}],
  ['qwen2', {}],
  ['qwen3', {}],
  ['gemma3', GEMMA_AS_LLAMA_CPP_HAS_IT],
];

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
    await writeMergedFolder({ path, config, tensors: withLayers(mergedModel({ source: fixture }).tensors, layers) });
    await fixture.close();
    const source = await openModelFolder(path);
    const { tensors } = mergedModel({ source });
    await exportGguf({ path: `${path}.gguf`, type: 'F16', config, tensors, tokenizer: LETTERS, name });
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
