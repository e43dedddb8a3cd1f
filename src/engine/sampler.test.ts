import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sampler, SampleRequest } from '../core/index.ts';
import { createRng } from '../util/index.ts';
import { EmbeddedSampler } from './sampler.ts';
import { TINY } from './test-support.ts';
import { EmbeddedTrainer } from './trainer.ts';
import { SamplerRuntime } from './whole-decoder.ts';
import { initWeights } from './weights.ts';

const CONFIG = { ...TINY, taps: 3 };
const rng = createRng('prompts');
const prompt = (length: number): number[] => Array.from({ length }, () => rng.integer(0, CONFIG.vocabSize));
const PROMPTS = [3, 15, 16, 17, 30].map(prompt);

let trainer: EmbeddedTrainer;
let sampler: Sampler;
beforeAll(async () => {
  trainer = EmbeddedTrainer.fresh(CONFIG, 11, { threads: 2 });
  // A few steps, so that the distribution is far from uniform.
  const tokens = prompt(20);
  for (let i = 0; i < 20; i++) {
    await trainer.forwardBackward(
      [{ tokens, lossInputs: { targetTokens: [...tokens.slice(1), 0], weights: tokens.map(() => 1) } }],
      'cross_entropy',
    );
    await trainer.optimStep({ learningRate: 0.02 });
  }
  sampler = await trainer.saveWeightsAndGetSampler();
});
afterAll(async () => {
  await sampler[Symbol.asyncDispose]();
  await trainer[Symbol.asyncDispose]();
});

function request(
  prompt: readonly number[],
  params: Partial<SampleRequest['params']> = {},
  numSamples = 1,
): SampleRequest {
  return { prompt, numSamples, params: { maxTokens: 12, seed: 4, ...params } };
}

describe('the embedded sampler', () => {
  it('reports for each sampled token what the trainer computes for it, within 1e-4', async () => {
    for (const p of PROMPTS) {
      for (const { tokens, logprobs } of await sampler.sample(request(p, {}, 3))) {
        const full = [...p, ...tokens];
        const targetTokens = full.slice(1);
        const output = await trainer.forward(
          [{ tokens: full.slice(0, -1), lossInputs: { targetTokens, weights: targetTokens.map(() => 1) } }],
          'cross_entropy',
        );
        const recomputed = output.logprobs[0].slice(p.length - 1);
        logprobs.forEach((logprob, i) => expect(Math.abs(logprob - recomputed[i])).toBeLessThan(1e-4));
      }
    }
  });

  it('gives a request the same tokens and log-probabilities, bit for bit, whatever else is sampled with it', async () => {
    const alone = [];
    for (const p of PROMPTS) alone.push(await sampler.sample(request(p)));
    const company = await Promise.all(
      [...PROMPTS, ...PROMPTS, ...Array.from({ length: 30 }, (_, i) => prompt(1 + i))].map((p) =>
        sampler.sample(request(p)),
      ),
    );
    expect(company.slice(0, PROMPTS.length)).toEqual(alone);
    expect(company.slice(PROMPTS.length, 2 * PROMPTS.length)).toEqual(alone);
  });

  it('does so where products are cut into blocks and shared by more threads than two', async () => {
    const config = { ...CONFIG, hiddenSize: 128, intermediateSize: 344, layers: 1 };
    await using runtime = new SamplerRuntime(config, { threads: 4 });
    await using wide = EmbeddedSampler.of(runtime, initWeights(config, 3), 0);
    const alone = [];
    for (const p of PROMPTS) alone.push(await wide.sample(request(p)));
    const filler = Array.from({ length: 59 }, (_, i) => prompt(1 + (i % 16)));
    const company = await Promise.all([...PROMPTS, ...filler].map((p) => wide.sample(request(p))));
    expect(company.slice(0, PROMPTS.length)).toEqual(alone);
  });

  it('scores a sequence the same, bit for bit, whatever else is scored with it, in batches', async () => {
    const sequences = [...PROMPTS, [7], ...Array.from({ length: 40 }, (_, i) => prompt(1 + i))];
    const alone = [];
    for (const sequence of sequences) alone.push(await sampler.computeLogprobs(sequence));
    const together = await Promise.all(sequences.map((sequence) => sampler.computeLogprobs(sequence)));
    expect(together).toEqual(alone);
    expect(together.map((logprobs) => logprobs.length)).toEqual(sequences.map((sequence) => sequence.length));
  });

  it('lets one sequence to be scored be aborted without touching the others', async () => {
    const controller = new AbortController();
    const aborted = sampler.computeLogprobs(PROMPTS[0], { signal: controller.signal });
    const other = sampler.computeLogprobs(PROMPTS[1]);
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    expect(await other).toHaveLength(PROMPTS[1].length);
  });

  it('draws sample i of a request as a request of its own with seed + i would', async () => {
    const group = await sampler.sample(request(PROMPTS[1], { seed: 20 }, 4));
    for (const [i, sequence] of group.entries()) {
      expect(await sampler.sample(request(PROMPTS[1], { seed: 20 + i }))).toEqual([sequence]);
    }
    expect(new Set(group.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(1);
  });

  it('ends with the stop token, which is part of the result, or at the length limit', async () => {
    const [free] = await sampler.sample(request(PROMPTS[2]));
    expect(free).toMatchObject({ stop: 'length' });
    expect(free.tokens).toHaveLength(12);
    const stop = free.tokens[4];
    const [stopped] = await sampler.sample(request(PROMPTS[2], { stop: [stop] }));
    expect(stopped.stop).toBe('stop');
    expect(stopped.tokens).toEqual(free.tokens.slice(0, free.tokens.indexOf(stop) + 1));
    expect(stopped.logprobs).toHaveLength(stopped.tokens.length);
  });

  it('samples at temperature zero what a step-by-step search for the likeliest token finds', async () => {
    const p = PROMPTS[3];
    const [greedy] = await sampler.sample(request(p, { temperature: 0, maxTokens: 5 }));
    const found = [...p];
    for (let i = 0; i < 5; i++) {
      const scores = await Promise.all(
        Array.from({ length: CONFIG.vocabSize }, async (_, token) =>
          (await sampler.computeLogprobs([...found, token])).at(-1)!,
        ),
      );
      found.push(scores.indexOf(Math.max(...scores)));
    }
    expect(greedy.tokens).toEqual(found.slice(p.length));
  });

  it('is a snapshot: training on does not change it', async () => {
    const before = await sampler.sample(request(PROMPTS[0]));
    const version = sampler.version;
    await trainer.forwardBackward(
      [{ tokens: [1, 2], lossInputs: { targetTokens: [2, 3], weights: [5, 5] } }],
      'cross_entropy',
    );
    await trainer.optimStep({ learningRate: 0.1 });
    expect(await sampler.sample(request(PROMPTS[0]))).toEqual(before);
    expect(sampler.version).toBe(version);
    await using newer = await trainer.saveWeightsAndGetSampler();
    expect(newer.version).toBe(version + 1);
    expect(await newer.computeLogprobs(PROMPTS[1])).not.toEqual(await sampler.computeLogprobs(PROMPTS[1]));
  });

  it('lets one request be aborted without touching the others', async () => {
    const controller = new AbortController();
    const aborted = sampler.sample(request(PROMPTS[0]), { signal: controller.signal });
    const other = sampler.sample(request(PROMPTS[1]));
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    expect(await other).toHaveLength(1);
  });

  const refused: [string, SampleRequest, string][] = [
    ['an empty prompt', request([]), 'empty-prompt'],
    ['a token outside the vocabulary', request([99]), 'token-out-of-range'],
    ['more tokens than the model has positions', request(prompt(40)), 'sequence-too-long'],
    ['a negative temperature', request([1], { temperature: -1 }), 'bad-sampling-params'],
    ['top-p of zero', request([1], { topP: 0 }), 'bad-sampling-params'],
    ['top-k of zero', request([1], { topK: 0 }), 'bad-sampling-params'],
    ['no samples', request([1], {}, 0), 'bad-sampling-params'],
  ];
  for (const [what, bad, code] of refused) {
    it(`refuses ${what}`, async () => {
      await expect(sampler.sample(bad)).rejects.toMatchObject({ code });
    });
  }
});
