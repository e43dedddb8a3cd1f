// One model in this process and the same model behind the server, over real HTTP: the same calls give the same numbers,
// to the last bit. Whatever the protocol could lose or change on the way would show here.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Datum, LossConfig, LossName, Trainer } from '../../src/core/index.ts';
import type { EmbeddedBackend } from '../../src/engine/index.ts';
import type { TinkerBackend } from '../../src/tinker/index.ts';
import { createRng } from '../../src/util/index.ts';
import { serveSmall, smallBackend, SMALL_MODEL, type Served } from './embedded-server.ts';

let local: EmbeddedBackend;
let served: Served;
let remote: TinkerBackend;

beforeAll(async () => {
  local = smallBackend();
  served = await serveSmall();
  remote = await served.backend();
});

afterAll(async () => {
  await remote[Symbol.asyncDispose]();
  await served[Symbol.asyncDispose]();
  await local[Symbol.asyncDispose]();
  expect(served.failures).toEqual([]);
});

const LORA = { rank: 4, seed: 7 } as const;
const ADAM = { learningRate: 1e-2, gradClipNorm: 1, weightDecay: 0.01 } as const;

function rows(loss: LossName, seed: string): readonly Datum[] {
  const rng = createRng(seed);
  return [5, 9, 3].map((length): Datum => {
    const ids = Array.from({ length: length + 1 }, () => rng.integer(0, SMALL_MODEL.vocabSize));
    const numbers = (): number[] => Array.from({ length }, () => Math.fround(2 * rng.next() - 1));
    const targetTokens = ids.slice(1);
    const tokens = ids.slice(0, -1);
    if (loss === 'cross_entropy') return { tokens, lossInputs: { targetTokens, weights: numbers() } };
    const policy = { targetTokens, logprobs: numbers().map((value) => value - 3), advantages: numbers() };
    const sequenceRatioMask = tokens.map((_, t) => (t === 0 ? 0 : 1));
    return { tokens, lossInputs: loss === 'gspo' ? { ...policy, sequenceRatioMask } : policy };
  });
}

async function both<T>(work: (trainer: Trainer, where: 'local' | 'remote') => Promise<T>): Promise<readonly [T, T]> {
  await using here = await local.createTrainer({ lora: LORA });
  await using there = await remote.createTrainer({ lora: LORA });
  return [await work(here, 'local'), await work(there, 'remote')];
}

const LOSSES: readonly (readonly [LossName, LossConfig])[] = [
  ['cross_entropy', {}],
  ['importance_sampling', {}],
  ['ppo', { clipLow: 0.9, clipHigh: 1.1 }],
  ['cispo', { clipHigh: 2 }],
  ['dro', { beta: 0.1 }],
  ['gspo', {}],
];

describe('training', () => {
  it.each(LOSSES)('%s: log-probabilities, loss and two steps', async (loss, config) => {
    const [here, there] = await both(async (trainer) => {
      const first = await trainer.forwardBackward(rows(loss, 'a'), loss, config);
      const step = await trainer.optimStep(ADAM);
      const second = await trainer.forwardBackward(rows(loss, 'b'), loss, config);
      await trainer.optimStep(ADAM);
      const after = await trainer.forward(rows(loss, 'a'), loss, config);
      return { first, second, after, norm: step.metrics['optim/grad_norm'], steps: trainer.step };
    });
    expect(there.first.logprobs).toEqual(here.first.logprobs);
    expect(there.second.logprobs).toEqual(here.second.logprobs);
    expect(there.after.logprobs).toEqual(here.after.logprobs);
    expect(there.first.metrics['loss:sum']).toBe(here.first.metrics['loss:sum']);
    expect(there.after.logprobs).not.toEqual(there.first.logprobs);
    expect(there.steps).toBe(2);
    expect(there.norm).toBe(here.norm);
  });

  it('a custom loss: gradients given by hand, metrics of both passes', async () => {
    const [here, there] = await both(async (trainer) => {
      const data = rows('cross_entropy', 'c');
      const output = await trainer.forwardBackwardCustom(data, (logprobs) => ({
        loss: logprobs.reduce((sum, row) => sum + row.reduce((a, b) => a + b * b, 0), 0),
        gradients: logprobs.map((row) => row.map((value) => 2 * value)),
        metrics: { 'rows:sum': logprobs.length },
      }));
      await trainer.optimStep(ADAM);
      return { output, after: await trainer.forward(data, 'cross_entropy') };
    });
    expect(there.output.logprobs).toEqual(here.output.logprobs);
    expect(there.after.logprobs).toEqual(here.after.logprobs);
    expect(there.output.metrics).toMatchObject({ 'rows:sum': 3, 'loss:sum': here.output.metrics['loss:sum'] });
    expect(there.output.metrics['surrogate_loss:sum']).toBeTypeOf('number');
  });

  it('calls that do not wait for each other are carried out in order', async () => {
    const [here, there] = await both(async (trainer) => {
      const data = rows('cross_entropy', 'd');
      const calls = [
        trainer.forwardBackward(data, 'cross_entropy'),
        trainer.optimStep(ADAM),
        trainer.forwardBackward(data, 'cross_entropy'),
        trainer.optimStep(ADAM),
      ] as const;
      const last = await trainer.forward(data, 'cross_entropy');
      await Promise.all(calls);
      return last;
    });
    expect(there.logprobs).toEqual(here.logprobs);
  });

  it('K targets a position', async () => {
    const datum: Datum = {
      tokens: [3, 4, 5],
      lossInputs: { targetTokens: [1, 2, 3, 4, 5, 6], weights: [0.5, 0, 0.25, 1, 0, 0] },
    };
    const [here, there] = await both((trainer) => trainer.forwardBackward([datum], 'cross_entropy'));
    expect(there.logprobs).toEqual(here.logprobs);
    expect(there.logprobs[0]).toHaveLength(6);
  });

  it('every weight, without adapters', async () => {
    await using here = await local.createTrainer({});
    await using there = await remote.createTrainer({});
    const results = [];
    for (const trainer of [here, there] as readonly Trainer[]) {
      await trainer.forwardBackward(rows('cross_entropy', 'e'), 'cross_entropy');
      await trainer.optimStep(ADAM);
      results.push(await trainer.forward(rows('cross_entropy', 'e'), 'cross_entropy'));
    }
    expect(results[1].logprobs).toEqual(results[0].logprobs);
  });

  it('a row that the loss cannot take is refused with the words of the server, and the model goes on', async () => {
    await using trainer = await remote.createTrainer({ lora: LORA });
    const bad: Datum = { tokens: [1, 2, 3], lossInputs: { targetTokens: [2, 3], weights: [1, 1] } };
    const failing = trainer.forwardBackward([bad], 'cross_entropy');
    await expect(failing).rejects.toMatchObject({ boundary: 'backend' });
    await expect(failing).rejects.toThrow(/datum 0|row 0|data\[0\]/i);
    const after = await trainer.forwardBackward(rows('cross_entropy', 'f'), 'cross_entropy');
    expect(after.logprobs).toHaveLength(3);
  });
});

describe('saved states', () => {
  it('going on from a saved state gives what going on would have given, in an old trainer and in a new one', async () => {
    await using trainer = await remote.createTrainer({ lora: LORA });
    const train = async (each: Trainer, seed: string): Promise<void> => {
      await each.forwardBackward(rows('cross_entropy', seed), 'cross_entropy');
      await each.optimStep(ADAM);
    };
    const measure = async (each: Trainer) => (await each.forward(rows('cross_entropy', 'x'), 'cross_entropy')).logprobs;
    await train(trainer, 'one');
    const path = await trainer.saveState('runs/some/checkpoints/state-000001');
    expect(path).toMatch(/^tinker:\/\/[^/]+\/weights\/state-000001$/);
    await train(trainer, 'two');
    const uninterrupted = await measure(trainer);

    await trainer.loadState(path);
    expect(trainer.step).toBe(1);
    await train(trainer, 'two');
    expect(await measure(trainer)).toEqual(uninterrupted);

    await using fresh = await remote.createTrainer({ from: { path, optimizer: true } });
    expect(fresh.step).toBe(1);
    await train(fresh, 'two');
    expect(await measure(fresh)).toEqual(uninterrupted);

    await using forgetful = await remote.createTrainer({ from: { path, optimizer: false } });
    expect(forgetful.step).toBe(0);
    await train(forgetful, 'two');
    expect(await measure(forgetful)).not.toEqual(uninterrupted);
  });

  it('a removed state is gone; removing it again is no failure', async () => {
    await using trainer = await remote.createTrainer({ lora: LORA });
    const path = await trainer.saveState('gone');
    await trainer.removeState(path);
    await trainer.removeState(path);
    await expect(remote.createTrainer({ from: { path, optimizer: true } })).rejects.toMatchObject({
      boundary: 'backend',
    });
  });
});

/** Log-probabilities have 32 bits on the wire; the sampler of this process says all that it computed. */
function onTheWire<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, item: unknown) =>
    typeof item === 'number' ? Math.fround(item) : item,
  ) as T;
}

describe('sampling', () => {
  it('the same seeds give the same tokens and log-probabilities, trained or not', async () => {
    const request = {
      prompt: [3, 4, 5],
      numSamples: 3,
      params: { maxTokens: 8, temperature: 0.9, topP: 0.95, seed: 11, topLogprobs: 2 },
    };
    const [here, there] = await both(async (trainer) => {
      await using before = await trainer.saveWeightsAndGetSampler();
      await trainer.forwardBackward(rows('cross_entropy', 'g'), 'cross_entropy');
      await trainer.optimStep(ADAM);
      await using after = await trainer.saveWeightsAndGetSampler();
      // The older snapshot is asked last: later steps must not have changed it.
      return [await after.sample(request), await before.sample(request), after.version];
    });
    expect(there).toEqual(onTheWire(here));
  });

  it('of the base and of saved weights', async () => {
    await using trainer = await remote.createTrainer({ lora: LORA });
    await trainer.forwardBackward(rows('cross_entropy', 'h'), 'cross_entropy');
    await trainer.optimStep(ADAM);
    const path = await trainer.saveWeightsForSampler('folder/for-sampling');
    const state = await trainer.saveState('folder/state');
    await using live = await trainer.saveWeightsAndGetSampler();
    const tokens = [2, 9, 4, 4, 8];
    const wanted = await live.computeLogprobs(tokens);
    for (const from of [path, state]) {
      await using saved = await remote.openSampler(from);
      expect(await saved.computeLogprobs(tokens)).toEqual(wanted);
    }
    await using base = await remote.openSampler();
    await using localBase = await local.openSampler();
    expect(await base.computeLogprobs(tokens)).toEqual(await localBase.computeLogprobs(tokens));
    expect(await base.computeLogprobs(tokens)).not.toEqual(wanted);
  });

  it('scores of a prompt: top tokens and given targets', async () => {
    await using there = await remote.openSampler();
    await using here = await local.openSampler();
    const tokens = [2, 9, 4, 4, 8];
    const options = { topK: 3, targets: [1, 2, 3, -1, 5, 6, 7, 8] };
    const [a, b] = [await here.scorePrompt(tokens, options), await there.scorePrompt(tokens, options)];
    expect(b.logprobs).toEqual(a.logprobs);
    expect(b.logprobs[0]).toBeNaN();
    expect(b.topK).toEqual(a.topK);
    expect(b.targets).toEqual(a.targets);
  });

  it('stop tokens end a sample and are part of it', async () => {
    await using sampler = await remote.openSampler();
    const params = { maxTokens: 30, seed: 5, stop: Array.from({ length: 16 }, (_, i) => i) };
    const [sample] = await sampler.sample({ prompt: [3], numSamples: 1, params });
    expect(sample.stop).toBe('stop');
    expect(params.stop).toContain(sample.tokens.at(-1));
  });

  it('what only a sampler of this process can do is refused', async () => {
    await using sampler = await remote.openSampler();
    const request = { prompt: [3], numSamples: 1, params: { maxTokens: 2 } };
    await expect(sampler.sample(request, { onToken: () => undefined })).rejects.toMatchObject({
      code: 'unsupported-sample-option',
    });
  });
});

it('a sequence as long as the context can be scored, here and there', async () => {
  for (const backend of [local, remote]) {
    await using sampler = await backend.openSampler();
    const tokens = Array.from({ length: backend.contextLength }, (_, i) => 1 + (i % 5));
    expect(await sampler.computeLogprobs(tokens)).toHaveLength(tokens.length);
  }
  expect(remote.contextLength).toBe(local.contextLength - 1);
});
