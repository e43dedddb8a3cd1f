// Sequences that join and leave while others run: what one gets is the same to the bit, and nobody waits for the others.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SampledSequence, SampleRequest } from '../core/index.ts';
import { createRng } from '../util/index.ts';
import type { Decoder } from './decoder.ts';
import { EmbeddedSampler } from './sampler.ts';
import { TINY } from './test-support.ts';
import { initWeights, weightFeeds } from './weights.ts';
import { SamplerRuntime, WholeDecoder } from './whole-decoder.ts';

const CONFIG = { ...TINY, hiddenSize: 64, headDim: 16, intermediateSize: 96, taps: 3, maxPositions: 320 };
const rng = createRng('running');
const prompt = (length: number): number[] => Array.from({ length }, () => rng.integer(0, CONFIG.vocabSize));

let runtime: SamplerRuntime;
let decoder: Decoder;
let sampler: EmbeddedSampler;
beforeAll(() => {
  const weights = initWeights(CONFIG, 5);
  weights.flat.forEach((value, i) => (weights.flat[i] = 4 * value)); // far from uniform
  const feeds = Promise.resolve(weightFeeds(weights));
  runtime = new SamplerRuntime(CONFIG, { threads: 3 });
  decoder = new WholeDecoder(runtime, () => feeds);
  sampler = new EmbeddedSampler(decoder, 0);
});
afterAll(async () => {
  await sampler[Symbol.asyncDispose]();
  await runtime[Symbol.asyncDispose]();
});

function request(tokens: readonly number[], maxTokens: number, numSamples = 1): SampleRequest {
  return { prompt: tokens, numSamples, params: { maxTokens, seed: tokens.length } };
}

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe('sequences that run', () => {
  it('are the same, bit for bit, alone and joined by others of any length at any step', async () => {
    const lengths = [1, 16, 62, 63, 64, 65, 126, 128, 129, 192, 250];
    const requests = lengths.map((length, i) => request(prompt(length), 5 + 6 * i, 1 + (i % 3)));
    const alone = [];
    for (const one of requests) alone.push(await sampler.sample(one));
    for (const stagger of [3, 7]) {
      const found = requests.map(async (one, i) => {
        await turns((i * stagger) % 29);
        return sampler.sample(one);
      });
      expect(await Promise.all(found)).toEqual(alone);
    }
  });

  it('are answered when they have ended, though they came later than some that go on', async () => {
    const order: string[] = [];
    const noted = (name: string, asked: SampleRequest): Promise<void> =>
      sampler.sample(asked).then(() => void order.push(name));
    const long = noted('long', request(prompt(5), 200));
    await turns(20);
    await noted('short', request(prompt(90), 3));
    await long;
    expect(order).toEqual(['short', 'long']);
  });

  it('wait for room where more are asked for than run at a time, and are what each would be by itself', async () => {
    const tokens = prompt(9);
    const many = await sampler.sample(request(tokens, 4, 150));
    const last = await sampler.sample({ prompt: tokens, numSamples: 1, params: { maxTokens: 4, seed: 9 + 149 } });
    expect(many).toHaveLength(150);
    expect(many[149]).toEqual(last[0]);
  });

  it('read a prompt once that several of them have', async () => {
    const read: number[][] = [];
    const counting: Decoder = {
      config: CONFIG,
      read: (prompts) => {
        read.push(prompts.map(({ length }) => length));
        return decoder.read(prompts);
      },
      step: (rows, cache) => decoder.step(rows, cache),
      score: (batch, calls) => decoder.score(batch, calls),
      choices: (tokens, wanted) => decoder.choices(tokens, wanted),
    };
    await using counted = new EmbeddedSampler(counting, 0);
    const [shared, other] = [prompt(70), prompt(40)];
    const expected = [await sampler.sample(request(shared, 30)), await sampler.sample(request(shared, 8, 2))];
    const first = counted.sample(request(shared, 30));
    await turns(12);
    const found = [first, counted.sample(request([...shared], 8, 2)), counted.sample(request(other, 3))];
    expect((await Promise.all(found)).slice(0, 2)).toEqual(expected);
    expect(read.filter(({ length }) => length > 0)).toEqual([[70], [40]]);
  });

  it('go on when what joins cannot be read; when a step fails all of them do, and none that comes later', async () => {
    let broken: 'read' | 'step' | undefined;
    const failing: Decoder = {
      config: CONFIG,
      read: (prompts) => (broken === 'read' ? Promise.reject(new Error('unreadable')) : decoder.read(prompts)),
      step: (rows, cache) => (broken === 'step' ? Promise.reject(new Error('no step')) : decoder.step(rows, cache)),
      score: (batch, calls) => decoder.score(batch, calls),
      choices: (tokens, wanted) => decoder.choices(tokens, wanted),
    };
    await using weak = new EmbeddedSampler(failing, 0);
    const asked = request(prompt(12), 60);
    const expected = await sampler.sample(asked);
    const running: Promise<readonly SampledSequence[]> = weak.sample(asked);
    await turns(9);
    broken = 'read';
    await expect(weak.sample(request(prompt(13), 5))).rejects.toThrowError('unreadable');
    broken = undefined;
    expect(await running).toEqual(expected);
    broken = 'step';
    await expect(weak.sample(asked)).rejects.toThrowError('no step');
    broken = undefined;
    expect(await weak.sample(asked)).toEqual(expected);
  });
});
