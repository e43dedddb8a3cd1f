// Exports against transformers and PEFT: an adapter with non-zero B from the folder that we write, and the whole model
// with it folded in, must give the log-probabilities that our own engine gives; and the folder that is made of a GGUF file,
// whose config comes from its metadata, must load there and give the same. Tiny random models of all families.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  exportGguf,
  loadPretrained,
  mergedModel,
  openGguf,
  openModelFolder,
  readPeftAdapter,
  writeMergedFolder,
  writePeftAdapter,
  type WeightSource,
} from '../../src/engine/index.ts';
import { decodeSafetensors, type NamedTensor } from '../../src/engine/safetensors.ts';
import { EmbeddedSampler } from '../../src/engine/sampler.ts';
import { SamplerRuntime } from '../../src/engine/whole-decoder.ts';
import { createRng } from '../../src/util/index.ts';
import { ask, hasPython } from '../../conformance/models/places.ts';
import { GEMMA_AS_LLAMA_CPP_HAS_IT, LETTERS, withLayers } from './tiny-gguf.ts';

const FIXTURES = fileURLToPath(new URL('../../src/engine/fixtures/', import.meta.url));
/** `+head`: the head, which is the embedding, is adapted too. */
const ADAPTED = ['llama-3', 'llama-biases', 'qwen2', 'qwen3', 'gemma3', 'llama+head', 'gemma3+head'] as const;
const FILES = ['llama', 'llama-3', 'llama-biases', 'qwen2', 'qwen3', 'gemma3'] as const;
const [RANK, ALPHA] = [2, 6];
/** What a file can say and the fixtures have otherwise. */
const CHANGES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  gemma3: GEMMA_AS_LLAMA_CPP_HAS_IT,
  // Llama 3.2's: a file has the factors that come of them, and only published ones can be told from those.
  'llama-3': {
    rope_theta: 500_000,
    rope_scaling: {
      ...{ rope_type: 'llama3', factor: 32, low_freq_factor: 1, high_freq_factor: 4 },
      original_max_position_embeddings: 8192,
    },
  },
};

type LogProbabilities = number[][][];
type Case = { readonly peft: LogProbabilities; readonly merged: LogProbabilities; readonly base: LogProbabilities };

let folder = '';
const cases = new Map<string, Case>();
const fromFiles = new Map<string, LogProbabilities>();
const ids = new Map<string, number[][]>();

const place = (name: string, kind: string): string => join(folder, `${name}-${kind}`);
const fixtureOf = (name: string): string => join(FIXTURES, name.split('+')[0]);

async function expectedOf(name: string): Promise<ReadonlyMap<string, NamedTensor>> {
  const path = join(fixtureOf(name), 'expected.safetensors');
  return decodeSafetensors(await readFile(path), name).tensors;
}

async function writeAdapted(name: string): Promise<void> {
  const expected = await expectedOf(name);
  const tensors = [...expected.values()]
    .filter((tensor) => /^lora\..*lora_[AB]/.test(tensor.name))
    .map((tensor) => ({ ...tensor, name: tensor.name.slice('lora.'.length) }));
  const source = await openModelFolder(fixtureOf(name));
  if (name.endsWith('+head')) {
    const [rows, columns] = source.shapeOf('model.embed_tokens.weight');
    const rng = createRng('head', 1);
    for (const [half, shape] of [
      ['A', [RANK, columns]],
      ['B', [rows, RANK]],
    ] as const) {
      const data = Float32Array.from({ length: shape[0] * shape[1] }, () => rng.next() - 0.5);
      tensors.push({ name: `lm_head.lora_${half}.weight`, shape, data });
    }
  }
  expect(tensors.some(({ name: tensor, data }) => tensor.includes('lora_B') && data.some((value) => value !== 0))).toBe(
    true,
  );
  await writePeftAdapter({ path: place(name, 'peft'), tensors, rank: RANK, alpha: ALPHA, baseModel: null });
  const model = mergedModel({ source, adapter: await readPeftAdapter(place(name, 'peft')) });
  await writeMergedFolder({ path: place(name, 'merged'), ...model });
  await source.close();
}

/** From the fixture to a GGUF file and from that to a folder again. */
async function writeFromFile(name: string): Promise<void> {
  const fixture = await openModelFolder(fixtureOf(name));
  const config = { ...(fixture.config as Record<string, unknown>), ...CHANGES[name] };
  const tensors = withLayers(mergedModel({ source: fixture }).tensors, config.num_hidden_layers as number);
  await exportGguf({ path: place(name, 'gguf'), type: 'F16', config, tensors, tokenizer: LETTERS, name });
  await fixture.close();
  const { source } = await openGguf(place(name, 'gguf'));
  await writeMergedFolder({ path: place(name, 'from-file'), ...mergedModel({ source }) });
  await source.close();
}

describe.skipIf(!hasPython)('exports', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tabwright-exports-'));
    for (const name of ADAPTED) await writeAdapted(name);
    for (const name of FILES) await writeFromFile(name);
    for (const name of [...ADAPTED, ...FILES]) {
      const expected = await expectedOf(name);
      const rows = [0, 1].map((i) => [...expected.get(`ids.${i}`)!.data]);
      ids.set(name, rows);
    }
    const jobs = [
      ...ADAPTED.flatMap((name) => [
        { model: fixtureOf(name), adapter: place(name, 'peft'), ids: ids.get(name) },
        { model: place(name, 'merged'), adapter: null, ids: ids.get(name) },
        { model: fixtureOf(name), adapter: null, ids: ids.get(name) },
      ]),
      ...FILES.map((name) => ({ model: place(name, 'from-file'), adapter: null, ids: ids.get(name) })),
    ];
    const answers = await ask<LogProbabilities[]>('check-adapters.py', { input: jobs });
    for (const [i, name] of ADAPTED.entries()) {
      const [peft, merged, base] = answers.slice(i * 3, i * 3 + 3);
      cases.set(name, { peft, merged, base });
    }
    for (const [i, name] of FILES.entries()) fromFiles.set(name, answers[ADAPTED.length * 3 + i]);
  }, 600_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(ADAPTED)('of %s: base + adapter in PEFT is the merged model in transformers', (name) => {
    const { peft, merged, base } = cases.get(name)!;
    expect(relativeError(merged, peft)).toBeLessThan(1e-5);
    // The adapter matters: without it the model is another one.
    expect(relativeError(base, peft)).toBeGreaterThan(1e-2);
  });

  it.each(ADAPTED)(
    'of %s: our engine on the merged folder gives what PEFT gives',
    { timeout: 120_000 },
    async (name) => {
      await compareEngine(await openModelFolder(place(name, 'merged')), ids.get(name)!, cases.get(name)!.peft);
    },
  );

  it.each(FILES)(
    'of %s: a GGUF file becomes a folder that gives in transformers what our engine gives from the file',
    { timeout: 120_000 },
    async (name) => {
      const { source } = await openGguf(place(name, 'gguf'));
      await compareEngine(source, ids.get(name)!, fromFiles.get(name)!);
    },
  );
});

async function compareEngine(
  source: WeightSource,
  rows: readonly number[][],
  expected: LogProbabilities,
): Promise<void> {
  const { config, weights } = await loadPretrained(source);
  await source.close();
  await using runtime = new SamplerRuntime(config, { threads: 1 });
  await using sampler = EmbeddedSampler.of(runtime, weights, 0);
  const every = Array.from({ length: config.vocabSize }, (_, token) => token);
  for (const [i, tokens] of rows.entries()) {
    const targets = tokens.flatMap(() => every);
    const scores = await sampler.scorePrompt([...tokens, 0], { targets });
    expect(relativeError([[[...scores.targets!]]], [[expected[i].flat()]])).toBeLessThan(1e-5);
  }
}

/** Largest difference relative to the largest entry. */
function relativeError(found: LogProbabilities, expected: LogProbabilities): number {
  const [a, b] = [found.flat(2), expected.flat(2)];
  expect(a.length).toBe(b.length);
  const worst = b.reduce((most, value, i) => Math.max(most, Math.abs(value - a[i])), 0);
  return worst / b.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}
