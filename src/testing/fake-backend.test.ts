import { describe, expect, it } from 'vitest';
import type { Datum, LossName } from '../core/index.ts';
import { createFakeTrainer } from './fake-backend.ts';

const options = { vocabularySize: 4, window: 1, baseLogits: () => [0.3, -0.2, 0, 0.9] };
const datum: Datum = {
  tokens: [0, 1, 2],
  lossInputs: { targetTokens: [1, 2, 3], logprobs: [0, -1.2, -0.9], advantages: [0, 1, -0.5] },
};
const supervised: Datum = { tokens: [0, 1], lossInputs: { targetTokens: [1, 2], weights: [1, -0.5] } };
const sgd = { learningRate: 1, beta1: 0, beta2: 0, eps: 1e-12 };

describe('createFakeTrainer', () => {
  // Not cispo: its gradient is not that of its value, but of the value with the clip weights held.
  it.each(['importance_sampling', 'ppo', 'dro', 'cross_entropy'] as const)(
    '%s: a small step against the gradient lowers the loss',
    async (loss: LossName) => {
      const data = [loss === 'cross_entropy' ? supervised : datum];
      const trainer = createFakeTrainer(options);
      const before = await trainer.forwardBackward(data, loss);
      await trainer.optimStep({ ...sgd, learningRate: 1e-4 });
      const after = await trainer.forward(data, loss);
      expect(after.metrics['loss:sum']).toBeLessThan(before.metrics['loss:sum']);
    },
  );

  it('sums losses, so that a datum twice is the datum accumulated twice', async () => {
    const [together, apart] = [createFakeTrainer(options), createFakeTrainer(options)];
    const two = await together.forwardBackward([datum, datum], 'ppo');
    const one = await apart.forwardBackward([datum], 'ppo');
    await apart.forwardBackward([datum], 'ppo');
    expect(two.metrics['loss:sum']).toBeCloseTo(2 * one.metrics['loss:sum'], 12);
    const norms = [await together.optimStep(sgd), await apart.optimStep(sgd)].map(
      ({ metrics }) => metrics['optim/grad_norm'],
    );
    expect(norms[0]).toBeCloseTo(norms[1], 12);
  });

  it('takes a first Adam step of the learning rate in the direction of the sign, and clears the gradient', async () => {
    const trainer = createFakeTrainer(options);
    await trainer.forwardBackward([supervised], 'cross_entropy');
    await trainer.optimStep({ learningRate: 0.1 });
    const row = trainer.weights().get('0')!;
    expect([...row].map((w) => Math.round(w * 1e6) / 1e6)).toEqual([-0.1, 0.1, -0.1, -0.1]);
    expect((await trainer.optimStep({ learningRate: 0 })).metrics['optim/grad_norm']).toBe(0);
  });

  it('a custom loss reaches the weights as the same named loss does', async () => {
    const [named, custom] = [createFakeTrainer(options), createFakeTrainer(options)];
    await named.forwardBackward([supervised], 'cross_entropy');
    await custom.forwardBackwardCustom([supervised], ([logprobs]) => ({
      loss: -logprobs[0] + 0.5 * logprobs[1],
      gradients: [[-1, 0.5]],
    }));
    await named.optimStep({ learningRate: 0.1 });
    await custom.optimStep({ learningRate: 0.1 });
    expect(custom.weights()).toEqual(named.weights());
  });

  it('save, load, and the next step is the same', async () => {
    const disk = new Map<string, string>();
    const [original, restored] = [createFakeTrainer({ ...options, disk }), createFakeTrainer({ ...options, disk })];
    await original.forwardBackward([datum], 'ppo');
    await original.optimStep({ learningRate: 0.1 });
    await original.saveState('a');
    await restored.loadState('a');
    for (const trainer of [original, restored]) {
      await trainer.forwardBackward([datum], 'ppo');
      await trainer.optimStep({ learningRate: 0.1, weightDecay: 0.1 });
    }
    expect(restored.weights()).toEqual(original.weights());
    expect(restored.step).toBe(2);
    await expect(restored.loadState('nowhere')).rejects.toMatchObject({ code: 'checkpoint-not-found' });
  });

  it('hands out samplers that later steps do not change', async () => {
    const trainer = createFakeTrainer(options);
    const sampler = await trainer.saveWeightsAndGetSampler();
    const before = await sampler.computeLogprobs([0, 1, 2]);
    await trainer.forwardBackward([supervised], 'cross_entropy');
    await trainer.optimStep({ learningRate: 1 });
    expect(await sampler.computeLogprobs([0, 1, 2])).toEqual(before);
    expect(sampler.version).toBe(0);
    expect((await trainer.saveWeightsAndGetSampler()).version).toBe(1);
  });

  it('refuses inputs of another length with the name of the input', async () => {
    await expect(createFakeTrainer(options).forward([supervised], 'ppo')).rejects.toThrow(/ppo needs logprobs/);
  });
});

describe('its sampler', () => {
  it('draws the same for a seed, and with the frequencies of its own log-probabilities', async () => {
    const sampler = await createFakeTrainer(options).saveWeightsAndGetSampler();
    const request = { prompt: [0], numSamples: 4000, params: { maxTokens: 1, seed: 5 } };
    const samples = await sampler.sample(request);
    expect(await sampler.sample(request)).toEqual(samples);
    const share = samples.filter(({ tokens }) => tokens[0] === 3).length / 4000;
    const expected = Math.exp(samples.find(({ tokens }) => tokens[0] === 3)!.logprobs[0]);
    expect(Math.abs(share - expected)).toBeLessThan(4 * Math.sqrt((expected * (1 - expected)) / 4000));
  });

  it('tempers and truncates the draw, never the log-probabilities', async () => {
    const sampler = await createFakeTrainer(options).saveWeightsAndGetSampler();
    const draw = async (params: object) =>
      (await sampler.sample({ prompt: [0], numSamples: 200, params: { maxTokens: 1, ...params } })).map(
        (s) => s.tokens[0],
      );
    expect(new Set(await draw({ temperature: 0 }))).toEqual(new Set([3]));
    expect(new Set(await draw({ topK: 2 }))).toEqual(new Set([3, 0]));
    expect(new Set(await draw({ topP: 0.5 }))).toEqual(new Set([3, 0]));
    const [greedy] = await sampler.sample({ prompt: [0], numSamples: 1, params: { maxTokens: 1, temperature: 0 } });
    expect(greedy.logprobs[0]).toBeCloseTo((await sampler.computeLogprobs([0, 3]))[1], 12);
  });
});
