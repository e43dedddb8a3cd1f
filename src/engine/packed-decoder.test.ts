// Decoding of large models: what a request gets depends neither on its company nor on what was read before it.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SampleRequest, ScoringSampler } from '../core/index.ts';
import { EmbeddedBackend } from './backend.ts';
import { openModelFolder } from './formats/safetensors-source.ts';
import { loadPretrained, type PretrainedModel } from './pretrained.ts';
import { PrefixCache } from './prefix-cache.ts';

const FIXTURE = fileURLToPath(new URL('fixtures/llama-3', import.meta.url));
const prompt = (length: number, seed = 1): number[] => Array.from({ length }, (_, i) => ((i * 7 + seed * 13) % 61) + 1);

let model: PretrainedModel;
let backend: EmbeddedBackend;
let sampler: ScoringSampler;
/** Keeps nothing of earlier prompts. */
let forgetful: ScoringSampler;
let forgetfulBackend: EmbeddedBackend;

beforeAll(async () => {
  const source = await openModelFolder(FIXTURE);
  model = await loadPretrained(source);
  await source.close();
  const options = { modelName: 'llama-3', ...model, threads: 2, execution: 'layers' } as const;
  backend = new EmbeddedBackend(options);
  forgetfulBackend = new EmbeddedBackend({ ...options, maxPrefixFloats: 0 });
  sampler = await backend.openSampler();
  forgetful = await forgetfulBackend.openSampler();
});
afterAll(async () => {
  await backend[Symbol.asyncDispose]();
  await forgetfulBackend[Symbol.asyncDispose]();
});

function request(
  tokens: readonly number[],
  params: Partial<SampleRequest['params']> = {},
  numSamples = 1,
): SampleRequest {
  return { prompt: tokens, numSamples, params: { maxTokens: 12, seed: 4, ...params } };
}

describe('decoding of a large model', () => {
  it('gives a request the same bits alone and among requests of other lengths', async () => {
    const prompts = [1, 2, 40, 63, 64, 65, 100].map((length) => prompt(length, length));
    const alone = [];
    for (const tokens of prompts) alone.push(await forgetful.sample(request(tokens)));
    const crowd = [...prompts, ...Array.from({ length: 20 }, (_, i) => prompt(1 + i, 50 + i))];
    const together = await Promise.all(crowd.map((tokens) => forgetful.sample(request(tokens, { maxTokens: 12 }))));
    expect(together.slice(0, prompts.length)).toEqual(alone);
  });

  it('gives the same bits when groups that share prompts join and leave at any step', async () => {
    const asked = [1, 30, 64, 65, 100].map((length, i) =>
      request(prompt(length, length), { maxTokens: 4 + 5 * i }, 1 + i),
    );
    const alone = [];
    for (const one of asked) alone.push(await forgetful.sample(one));
    for (const stagger of [2, 5]) {
      const found = [...asked, ...asked].map(async (one, i) => {
        for (let turn = 0; turn < (i * stagger) % 23; turn++) await new Promise((resolve) => setImmediate(resolve));
        return forgetful.sample(one);
      });
      expect(await Promise.all(found)).toEqual([...alone, ...alone]);
    }
  });

  it('gives the same bits when the prompt began like one that was read before', async () => {
    const first = prompt(70);
    const longer = [...first, ...prompt(30, 9)];
    const expected = [await forgetful.sample(request(first)), await forgetful.sample(request(longer))];
    expect([await sampler.sample(request(first)), await sampler.sample(request(longer))]).toEqual(expected);
    expect([await sampler.sample(request(first)), await sampler.sample(request(longer))]).toEqual(expected);
  });

  it('goes on beyond the places that its cache began with, while others end', async () => {
    const long = { maxTokens: 100 - 3 };
    const [alone] = await forgetful.sample(request(prompt(3), long));
    const found = await Promise.all([
      forgetful.sample(request(prompt(5), { maxTokens: 2 })),
      forgetful.sample(request(prompt(3), long)),
      forgetful.sample(request(prompt(9), { maxTokens: 70 }, 3)),
    ]);
    expect(found[1]).toEqual([alone]);
    expect(alone.tokens).toHaveLength(97);
    const scored = await forgetful.computeLogprobs([...prompt(3), ...alone.tokens]);
    alone.logprobs.forEach((logprob, i) => expect(scored[3 + i]).toBeCloseTo(logprob, 4));
  });

  it('draws from the truncated and tempered distribution', async () => {
    const [greedy] = await sampler.sample(request(prompt(20), { temperature: 0 }));
    const narrow = await sampler.sample(request(prompt(20), { topK: 1 }, 2));
    const nucleus = await sampler.sample(request(prompt(20), { topP: 1e-6, temperature: 0.5 }, 2));
    for (const { tokens, logprobs } of [...narrow, ...nucleus]) {
      expect(tokens).toEqual(greedy.tokens);
      expect(logprobs).toEqual(greedy.logprobs);
    }
    const free = await sampler.sample(request(prompt(20), {}, 8));
    expect(new Set(free.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(1);
  });

  it('lets one request be aborted without touching the others', async () => {
    const controller = new AbortController();
    const aborted = sampler.sample(request(prompt(4), { maxTokens: 90 }), {
      signal: controller.signal,
      onToken: () => controller.abort(),
    });
    const other = sampler.sample(request(prompt(5)));
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    expect(await other).toEqual(await sampler.sample(request(prompt(5))));
  });

  it('samples the base as before once adapters have been sampled', async () => {
    const before = await sampler.sample(request(prompt(10)));
    const trainer = await backend.createTrainer({ lora: { rank: 3 } });
    const adapters = trainer.adapterWeights()!;
    adapters.flat.forEach((_, i) => (adapters.flat[i] = 0.2 * Math.sin(i)));
    const adapted = await trainer.saveWeightsAndGetSampler();
    const found = await adapted.sample(request(prompt(10)));
    expect(found).not.toEqual(before);
    const scored = await adapted.computeLogprobs([...prompt(10), ...found[0].tokens]);
    found[0].logprobs.forEach((logprob, i) => expect(scored[10 + i]).toBeCloseTo(logprob, 4));
    expect(await sampler.sample(request(prompt(10)))).toEqual(before);
  });
});

describe('prompts that were read', () => {
  const cache = (floats: number): { key: Float32Array[]; value: Float32Array[]; places: number } => {
    return { key: [new Float32Array(floats / 2)], value: [new Float32Array(floats / 2)], places: 1 };
  };

  it('are found by their longest common beginning, and given up when they have not been used for longest', () => {
    const prefixes = new PrefixCache({ maxFloats: 20 });
    const [a, b, c] = [cache(10), cache(10), cache(10)];
    prefixes.add([1, 2, 3], a);
    prefixes.add([1, 5], b);
    expect(prefixes.find([1, 2, 9])).toEqual({ cache: a, length: 2 });
    expect(prefixes.find([7])).toBeUndefined();
    prefixes.add([8, 9], c);
    expect(prefixes.find([1, 5])).toEqual({ cache: a, length: 1 });
    expect(prefixes.find([1, 2, 3, 4])?.cache).toBe(a);
    prefixes.add([1, 2, 3, 4], b);
    expect(prefixes.find([1, 2, 3])?.cache).toBe(b);
  });
});
