// Rounded weights of the decoding step: how far they are from the whole ones, and that all else keeps those.

import { describe, expect, it } from 'vitest';
import type { SampleRequest } from '../core/index.ts';
import { EmbeddedBackend, type EmbeddedBackendOptions } from './backend.ts';
import type { ModelConfig } from './model-config.ts';
import { roundBlocks } from './step-weights.ts';
import { randomMatrix, TINY } from './test-support.ts';
import { initWeights } from './weights.ts';

const CONFIG: ModelConfig = { ...TINY, hiddenSize: 64, headDim: 16, intermediateSize: 96, maxPositions: 160 };
const WEIGHTS = initWeights(CONFIG, 2);
WEIGHTS.flat.forEach((weight, i) => (WEIGHTS.flat[i] = 2 * weight)); // far from uniform
const prompt = (length: number, seed = 1): number[] => Array.from({ length }, (_, i) => (i * 7 + seed * 13) % 23);

const open = (decodeWeights: NonNullable<EmbeddedBackendOptions['decodeWeights']>): EmbeddedBackend =>
  new EmbeddedBackend({
    modelName: 'small',
    config: CONFIG,
    weights: WEIGHTS,
    threads: 2,
    execution: 'layers',
    decodeWeights,
  });

function request(tokens: readonly number[], params: Partial<SampleRequest['params']> = {}): SampleRequest {
  return { prompt: tokens, numSamples: 1, params: { maxTokens: 12, seed: 4, ...params } };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe.each([4, 8] as const)('rows in %i bits', (bits) => {
  const read = (packed: Uint8Array, i: number): number =>
    bits === 8 ? packed[i] : (packed[i >> 1] >> (4 * (i & 1))) & 15;
  const whole = (data: Float32Array): number[] => {
    const { values, scales, offsets } = roundBlocks(data, bits);
    return Array.from(data, (_, i) => {
      const block = Math.floor(i / 32);
      return scales[block] * (read(values, i) - 2 ** (bits - 1)) + offsets[block];
    });
  };

  it('are within half a step of what they were, also where all of a block are alike', () => {
    const { data } = randomMatrix('rounded', [5, 96]);
    data.fill(0.5, 64, 96);
    whole(data).forEach((found, i) => {
      const block = data.subarray(32 * Math.floor(i / 32), 32 * Math.floor(i / 32) + 32);
      const step = (Math.max(...block) - Math.min(...block)) / (2 ** bits - 1);
      expect(Math.abs(found - data[i])).toBeLessThanOrEqual(0.5001 * step + 1e-6);
    });
  });

  it('are what they were where a block has no more values than the bits tell apart', () => {
    const data = Float32Array.from({ length: 64 }, (_, i) => 0.013 * ((i * 7) % 2 ** 4) * (bits === 4 ? 1 : 17) - 0.3);
    data.set([-0.3, 0.013 * (2 ** bits - 1) - 0.3]);
    data.set([-0.3, 0.013 * (2 ** bits - 1) - 0.3], 32);
    whole(data).forEach((found, i) => expect(found).toBeCloseTo(data[i], 5));
  });
});

describe.each([
  ['q8', 0.03],
  ['q4', 0.3],
] as const)('decoding with %s', (kind, bound) => {
  it(`gives log-probabilities ${bound} at most from the whole weights' on average, which prompts and scores keep`, async () => {
    await using whole = open('f32');
    await using rounded = open(kind);
    const [exact, rough] = [await whole.openSampler(), await rounded.openSampler()];
    const asked = request(prompt(40), { topLogprobs: CONFIG.vocabSize, maxTokens: 20 });
    const [found] = await rough.sample(asked);
    const full = [...asked.prompt, ...found.tokens];
    const scores = await exact.computeLogprobs(full);
    const distances = found.logprobs.map((logprob, i) => Math.abs(logprob - scores[40 + i]));
    // The first token is drawn from the prompt, which is read with the whole weights.
    expect(distances[0]).toBeLessThan(1e-5);
    expect(Math.max(...distances)).toBeGreaterThan(1e-4);
    expect(mean(distances)).toBeLessThan(bound);
    expect(await rough.computeLogprobs(full)).toEqual(scores);
  });

  it('gives a request the same bits alone and in company', async () => {
    await using backend = open(kind);
    const sampler = await backend.openSampler();
    const prompts = [1, 40, 64, 100].map((length) => prompt(length, length));
    const alone = [];
    for (const tokens of prompts) alone.push(await sampler.sample(request(tokens)));
    const crowd = [...prompts, ...Array.from({ length: 15 }, (_, i) => prompt(1 + i, 50 + i))];
    const together = await Promise.all(crowd.map((tokens) => sampler.sample(request(tokens))));
    expect(together.slice(0, prompts.length)).toEqual(alone);
  });

  it('takes adapters beside the rounded base', async () => {
    await using backend = open(kind);
    const trainer = await backend.createTrainer({ lora: { rank: 3 } });
    const adapters = trainer.adapterWeights()!;
    adapters.flat.forEach((_, i) => (adapters.flat[i] = 0.2 * Math.sin(i)));
    const sampler = await trainer.saveWeightsAndGetSampler();
    const [found] = await sampler.sample(request(prompt(10)));
    const scores = await sampler.computeLogprobs([...prompt(10), ...found.tokens]);
    const distances = found.logprobs.map((logprob, i) => Math.abs(logprob - scores[10 + i]));
    expect(mean(distances)).toBeLessThan(3 * bound);
  });
});

describe('rounded weights are refused', () => {
  it('for matrices that do not divide into blocks, by name', () => {
    const config = { ...CONFIG, intermediateSize: 72 };
    const weights = initWeights(config, 1);
    const options = { modelName: 'odd', config, weights, execution: 'layers', decodeWeights: 'q4' } as const;
    expect(() => new EmbeddedBackend(options)).toThrowError(/mlp.down_proj.weight is 72 wide/);
  });

  it('for a model that is run whole', () => {
    const options = { modelName: 'tiny', config: TINY, weights: initWeights(TINY, 1), decodeWeights: 'q8' } as const;
    expect(() => new EmbeddedBackend(options)).toThrowError(/decodes with its weights as they are/);
  });
});
