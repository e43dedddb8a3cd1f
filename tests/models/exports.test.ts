// Exports against transformers and PEFT: an adapter with non-zero B from the folder that we write, and the whole model
// with it folded in, must give the log-probabilities that our own engine gives. Tiny random models of all families.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  loadPretrained,
  mergedTensors,
  openModelFolder,
  readPeftAdapter,
  writeMergedFolder,
  writePeftAdapter,
} from '../../src/engine/index.ts';
import { decodeSafetensors } from '../../src/engine/safetensors.ts';
import { EmbeddedSampler } from '../../src/engine/sampler.ts';
import { SamplerRuntime } from '../../src/engine/whole-decoder.ts';
import { ask, hasPython } from '../../conformance/models/places.ts';

const FIXTURES = fileURLToPath(new URL('../../src/engine/fixtures/', import.meta.url));
const FAMILIES = ['llama-3', 'llama-biases', 'qwen2', 'qwen3', 'gemma3'] as const;
const [RANK, ALPHA] = [2, 6];

type LogProbabilities = number[][][];
type Case = { readonly peft: LogProbabilities; readonly merged: LogProbabilities; readonly base: LogProbabilities };

let folder = '';
const cases = new Map<string, Case>();
const ids = new Map<string, number[][]>();

const place = (name: string, kind: string): string => join(folder, `${name}-${kind}`);

describe.skipIf(!hasPython)('exports', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tabwright-exports-'));
    for (const name of FAMILIES) {
      const bytes = await readFile(join(FIXTURES, name, 'expected.safetensors'));
      const expected = decodeSafetensors(bytes, name).tensors;
      const tensors = [...expected.values()]
        .filter((tensor) => /^lora\..*lora_[AB]/.test(tensor.name))
        .map((tensor) => ({ ...tensor, name: tensor.name.slice('lora.'.length) }));
      expect(
        tensors.some(({ name: tensor, data }) => tensor.includes('lora_B') && data.some((value) => value !== 0)),
      ).toBe(true);
      ids.set(
        name,
        [0, 1].map((i) => [...expected.get(`ids.${i}`)!.data]),
      );
      await writePeftAdapter({ path: place(name, 'peft'), tensors, rank: RANK, alpha: ALPHA, baseModel: null });
      const source = await openModelFolder(join(FIXTURES, name));
      await writeMergedFolder({
        path: place(name, 'merged'),
        config: source.config as Record<string, unknown>,
        tensors: mergedTensors({ source, adapter: await readPeftAdapter(place(name, 'peft')) }),
      });
      await source.close();
    }
    const jobs = FAMILIES.flatMap((name) => [
      { model: join(FIXTURES, name), adapter: place(name, 'peft'), ids: ids.get(name) },
      { model: place(name, 'merged'), adapter: null, ids: ids.get(name) },
      { model: join(FIXTURES, name), adapter: null, ids: ids.get(name) },
    ]);
    const answers = await ask<LogProbabilities[]>('check-adapters.py', { input: jobs });
    for (const [i, name] of FAMILIES.entries()) {
      const [peft, merged, base] = answers.slice(i * 3, i * 3 + 3);
      cases.set(name, { peft, merged, base });
    }
  }, 600_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(FAMILIES)('of %s: base + adapter in PEFT is the merged model in transformers', (name) => {
    const { peft, merged, base } = cases.get(name)!;
    expect(relativeError(merged, peft)).toBeLessThan(1e-5);
    // The adapter matters: without it the model is another one.
    expect(relativeError(base, peft)).toBeGreaterThan(1e-2);
  });

  it.each(FAMILIES)(
    'of %s: our engine on the merged folder gives what PEFT gives',
    { timeout: 120_000 },
    async (name) => {
      const source = await openModelFolder(place(name, 'merged'));
      const { config, weights } = await loadPretrained(source);
      await source.close();
      await using runtime = new SamplerRuntime(config, { threads: 1 });
      await using sampler = EmbeddedSampler.of(runtime, weights, 0);
      const every = Array.from({ length: config.vocabSize }, (_, token) => token);
      for (const [i, tokens] of ids.get(name)!.entries()) {
        const targets = tokens.flatMap(() => every);
        const scores = await sampler.scorePrompt([...tokens, 0], { targets });
        expect(relativeError([[[...scores.targets!]]], [[cases.get(name)!.peft[i].flat()]])).toBeLessThan(1e-5);
      }
    },
  );
});

/** Largest difference relative to the largest entry. */
function relativeError(found: LogProbabilities, expected: LogProbabilities): number {
  const [a, b] = [found.flat(2), expected.flat(2)];
  expect(a.length).toBe(b.length);
  const worst = b.reduce((most, value, i) => Math.max(most, Math.abs(value - a[i])), 0);
  return worst / b.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}
