import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SampleRequest, Trainer } from '../core/index.ts';
import { EmbeddedBackend } from './backend.ts';
import { exportAdapter } from './export-adapter.ts';
import { readPeftAdapter } from './formats/peft-adapter.ts';
import { randomData, TINY } from './test-support.ts';
import { initWeights } from './weights.ts';

const UNTIED = { ...TINY, tieEmbeddings: false };
const DATA = randomData('backend', [5, 12, 7], UNTIED.vocabSize);
const REQUEST: SampleRequest = { prompt: [3, 1, 4, 1, 5], numSamples: 2, params: { maxTokens: 8, seed: 2 } };

let folder: string;
let backend: EmbeddedBackend;
const weights = initWeights(UNTIED, 3);
const before = weights.flat.slice();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-'));
  backend = new EmbeddedBackend({ modelName: 'tiny', config: UNTIED, weights, threads: 1 });
});
afterEach(async () => {
  await backend[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
  expect(weights.flat).toEqual(before);
});

async function train(trainer: Trainer, steps = 3): Promise<void> {
  for (let i = 0; i < steps; i++) {
    await trainer.forwardBackward(DATA, 'cross_entropy');
    await trainer.optimStep({ learningRate: 0.02 });
  }
}

const losses = async (trainer: Trainer): Promise<number> =>
  (await trainer.forward(DATA, 'cross_entropy')).metrics['loss:sum'];

describe('the embedded backend', () => {
  it('gives trainers that share the base weights and disturb neither each other nor the base', async () => {
    const [one, two] = [
      await backend.createTrainer({ lora: { rank: 2, seed: 1 } }),
      await backend.createTrainer({ lora: { rank: 4, seed: 2 } }),
    ];
    const start = await losses(two);
    await train(one);
    expect(await losses(one)).toBeLessThan(start);
    expect(await losses(two)).toBe(start);
  });

  it('trains every weight where no adapters are asked for, on a copy', async () => {
    const trainer = await backend.createTrainer({});
    const start = await losses(trainer);
    expect(trainer.trainableCount).toBe(weights.flat.length);
    await train(trainer);
    expect(await losses(trainer)).toBeLessThan(start);
  });

  it.each([
    ['attention', { trainMlp: false, trainUnembed: false }, 4],
    ['the gated unit', { trainAttention: false, trainUnembed: false }, 3],
    ['all of it', {}, 7],
  ])('puts adapters on %s', async (_what, which, matrices) => {
    const trainer = await backend.createTrainer({ lora: { rank: 2, ...which } });
    const head = !('trainUnembed' in which);
    const names = trainer.adapterWeights()!.specs.map(({ name }) => name);
    expect(names).toHaveLength(2 * (UNTIED.layers * matrices + (head ? 1 : 0)));
    expect(names.some((name) => name.startsWith('lm_head'))).toBe(head);
  });

  it('refuses adapters on nothing', async () => {
    const lora = { rank: 2, trainAttention: false, trainMlp: false, trainUnembed: false };
    await expect(backend.createTrainer({ lora })).rejects.toMatchObject({ code: 'bad-lora-config' });
  });

  it('goes on from a saved state exactly, without the base in the folder, and takes its adapter settings from it', async () => {
    const first = await backend.createTrainer({ lora: { rank: 2, alpha: 4 } });
    await train(first);
    const path = join(folder, 'state');
    await first.saveState(path);
    expect((await readdir(path)).sort()).toEqual(['adapter.safetensors', 'config.json', 'optimizer.safetensors']);
    const second = await backend.createTrainer({ from: { path, optimizer: true } });
    expect(second.step).toBe(3);
    await train(first, 1);
    await train(second, 1);
    expect(await losses(second)).toBe(await losses(first));
  });

  it('takes weights without the optimiser, of a state or of saved sampler weights', async () => {
    const first = await backend.createTrainer({ lora: { rank: 2 } });
    await train(first);
    await first.saveState(join(folder, 'state'));
    await first.saveWeightsForSampler(join(folder, 'weights'));
    const expected = await losses(first);
    for (const name of ['state', 'weights']) {
      const trainer = await backend.createTrainer({ from: { path: join(folder, name), optimizer: false } });
      expect(trainer.step).toBe(0);
      expect(await losses(trainer)).toBe(expected);
    }
    const wanted = backend.createTrainer({ from: { path: join(folder, 'weights'), optimizer: true } });
    await expect(wanted).rejects.toMatchObject({ code: 'checkpoint-mismatch' });
  });

  it('refuses a state of other adapters or of another base', async () => {
    const first = await backend.createTrainer({ lora: { rank: 2 } });
    const path = join(folder, 'state');
    await first.saveState(path);
    const from = { path, optimizer: true };
    await expect(backend.createTrainer({ lora: { rank: 3 }, from })).rejects.toMatchObject({
      code: 'checkpoint-mismatch',
    });
    await using other = new EmbeddedBackend({ modelName: 'other', config: UNTIED, weights: initWeights(UNTIED, 4) });
    await expect(other.createTrainer({ from })).rejects.toMatchObject({ code: 'checkpoint-mismatch' });
    await expect(other.openSampler(path)).rejects.toMatchObject({ code: 'checkpoint-mismatch' });
  });

  it('opens the base and saved adapters as samplers that compute what the trainer computes', async () => {
    const trainer = await backend.createTrainer({ lora: { rank: 2 } });
    const base = await backend.openSampler();
    const full = [...DATA[1].tokens, DATA[1].lossInputs.targetTokens.at(-1)!];
    const trained = async (): Promise<readonly number[]> => [
      ...(await trainer.forward([DATA[1]], 'cross_entropy')).logprobs[0],
    ];
    const expectSame = (found: readonly number[], expected: readonly number[]): void =>
      expected.forEach((value, i) => expect(found[i + 1]).toBeCloseTo(value, 4));
    expectSame(await base.computeLogprobs(full), await trained());
    await train(trainer);
    const path = join(folder, 'weights');
    await trainer.saveWeightsForSampler(path);
    const opened = await backend.openSampler(path);
    expect(opened.version).toBe(3);
    expectSame(await opened.computeLogprobs(full), await trained());
    const snapshot = await trainer.saveWeightsAndGetSampler();
    expect(await opened.sample(REQUEST)).toEqual(await snapshot.sample(REQUEST));
    expect(await base.computeLogprobs(full)).not.toEqual(await opened.computeLogprobs(full));
    await train(trainer, 1);
    expect(await opened.sample(REQUEST)).toEqual(await snapshot.sample(REQUEST));
  });

  it('opens weights that a trainer of every weight saved', async () => {
    const trainer = await backend.createTrainer({});
    await train(trainer);
    const path = join(folder, 'weights');
    await trainer.saveWeightsForSampler(path);
    const opened = await backend.openSampler(path);
    const snapshot = await trainer.saveWeightsAndGetSampler();
    expect(await opened.sample(REQUEST)).toEqual(await snapshot.sample(REQUEST));
  });

  it('keeps answering when more samplers are open than fit in memory, and says so when a folder was replaced', async () => {
    await using small = new EmbeddedBackend({
      modelName: 'tiny',
      config: UNTIED,
      weights,
      threads: 1,
      maxSamplerFloats: 1,
    });
    const trainer = await small.createTrainer({ lora: { rank: 2 } });
    const paths = ['a', 'b', 'c'].map((name) => join(folder, name));
    const expected = [];
    for (const path of paths) {
      await train(trainer, 1);
      await trainer.saveWeightsForSampler(path);
      expected.push(await (await trainer.saveWeightsAndGetSampler()).sample(REQUEST));
    }
    const opened = await Promise.all(paths.map((path) => small.openSampler(path)));
    for (let round = 0; round < 2; round++)
      expect(await Promise.all(opened.map((sampler) => sampler.sample(REQUEST)))).toEqual(expected);
    // Whoever was read last of all is still in memory, and answers from there.
    await opened[1].sample(REQUEST);
    await trainer.saveWeightsForSampler(paths[0]);
    await expect(opened[0].sample(REQUEST)).rejects.toMatchObject({ code: 'sampler-weights-replaced' });
  });

  it('gives adapters as a PEFT folder, which reads as they were; says what has no such form', async () => {
    const trainer = await backend.createTrainer({ lora: { rank: 2, alpha: 6 } });
    await train(trainer);
    await trainer.saveState(join(folder, 'state'));
    await trainer.saveWeightsForSampler(join(folder, 'weights'));
    for (const name of ['state', 'weights']) {
      const path = join(folder, `${name}-peft`);
      await exportAdapter({ from: join(folder, name), path, baseModel: 'tiny' });
      const peft = await readPeftAdapter(path);
      expect(peft).toMatchObject({ rank: 2, alpha: 6, baseModel: 'tiny' });
      const expected = new Map(
        trainer
          .adapterWeights()!
          .tensors()
          .map((tensor) => [tensor.name, tensor.data]),
      );
      expect(peft.tensors.map((tensor) => tensor.name).sort()).toEqual([...expected.keys()].sort());
      for (const tensor of peft.tensors) expect(tensor.data).toEqual(expected.get(tensor.name));
    }
    await (await backend.createTrainer({})).saveState(join(folder, 'whole'));
    const whole = exportAdapter({ from: join(folder, 'whole'), path: join(folder, 'out') });
    await expect(whole).rejects.toMatchObject({ code: 'no-peft-form' });
    const config = { ...UNTIED, taps: 2 };
    await using convolved = new EmbeddedBackend({
      modelName: 'nano',
      config,
      weights: initWeights(config, 1),
      threads: 1,
    });
    await (await convolved.createTrainer({ lora: { rank: 1 } })).saveState(join(folder, 'convolved'));
    const nano = exportAdapter({ from: join(folder, 'convolved'), path: join(folder, 'out') });
    await expect(nano).rejects.toMatchObject({ code: 'no-peft-form' });
  });

  it('is closed with everything that it opened', async () => {
    const sampler = await backend.openSampler();
    const trainer = await backend.createTrainer({ lora: { rank: 1 } });
    await backend[Symbol.asyncDispose]();
    await expect(sampler.sample(REQUEST)).rejects.toMatchObject({ code: 'sampler-closed' });
    await expect(trainer.forward(DATA, 'cross_entropy')).rejects.toMatchObject({ code: 'trainer-closed' });
    await expect(backend.openSampler()).rejects.toMatchObject({ code: 'backend-closed' });
  });
});

describe('a sampler that scores', () => {
  it('gives the likeliest tokens of each sampled position, untempered, the sampled one with its own log-probability', async () => {
    const sampler = await backend.openSampler();
    const [plain] = await sampler.sample({ ...REQUEST, numSamples: 1 });
    const [found] = await sampler.sample({
      ...REQUEST,
      numSamples: 1,
      params: { ...REQUEST.params, topLogprobs: UNTIED.vocabSize },
    });
    expect(found.tokens).toEqual(plain.tokens);
    expect(plain.topLogprobs).toBeUndefined();
    expect(found.topLogprobs).toHaveLength(found.tokens.length);
    found.topLogprobs!.forEach((top, i) => {
      expect(top.map(({ logprob }) => logprob)).toEqual(top.map(({ logprob }) => logprob).sort((a, b) => b - a));
      expect(top.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5);
      expect(top.find(({ token }) => token === found.tokens[i])!.logprob).toBe(found.logprobs[i]);
    });
  });

  it('scores other tokens at each place of a prompt, and the likeliest, like prompts that have them', async () => {
    const sampler = await backend.openSampler();
    const prompt = [3, 1, 4, 1];
    const targets = [5, -1, 9, 2, -1, 6];
    const { logprobs, topK, targets: scores } = await sampler.scorePrompt(prompt, { topK: 3, targets });
    expect(logprobs).toEqual(await sampler.computeLogprobs(prompt));
    expect(topK).toHaveLength(prompt.length);
    expect(topK![0]).toEqual([]);
    for (let position = 1; position < prompt.length; position++) {
      const all = await Promise.all(
        Array.from({ length: UNTIED.vocabSize }, async (_, token) =>
          (await sampler.computeLogprobs([...prompt.slice(0, position), token])).at(-1)!,
        ),
      );
      const order = all.map((_, token) => token).sort((a, b) => all[b] - all[a]);
      expect(topK![position].map(({ token }) => token)).toEqual(order.slice(0, 3));
      topK![position].forEach(({ token, logprob }) => expect(logprob).toBeCloseTo(all[token], 4));
      [0, 1].forEach((k) => {
        const target = targets[(position - 1) * 2 + k];
        expect(scores![(position - 1) * 2 + k]).toBeCloseTo(target < 0 ? 0 : all[target], 4);
      });
    }
  });

  it('refuses targets that do not divide among the positions', async () => {
    const sampler = await backend.openSampler();
    await expect(sampler.scorePrompt([1, 2, 3], { targets: [1, 2, 3] })).rejects.toMatchObject({
      code: 'bad-scoring-params',
    });
    await expect(sampler.scorePrompt([1, 2, 3], { topK: -1 })).rejects.toMatchObject({ code: 'bad-scoring-params' });
  });

  it('hands out tokens as they are drawn, and stops when told by what they make', async () => {
    const sampler = await backend.openSampler();
    const [plain] = await sampler.sample({ ...REQUEST, numSamples: 1 });
    const seen: [number, number, number][] = [];
    const sampled = await sampler.sample(REQUEST, { onToken: (...values) => seen.push(values) });
    sampled.forEach(({ tokens, logprobs }, sample) =>
      expect(seen.filter(([of]) => of === sample)).toEqual(tokens.map((token, i) => [sample, token, logprobs[i]])),
    );
    const [stopped] = await sampler.sample(
      { ...REQUEST, numSamples: 1 },
      { stopWhen: (tokens) => tokens.length === 3 },
    );
    expect(stopped).toEqual({ tokens: plain.tokens.slice(0, 3), logprobs: plain.logprobs.slice(0, 3), stop: 'stop' });
  });

  it('lets a listener that throws end its own request alone', async () => {
    const sampler = await backend.openSampler();
    const failing = sampler.sample(REQUEST, {
      onToken: () => {
        throw new Error('the reader has gone');
      },
    });
    const other = sampler.sample(REQUEST);
    await expect(failing).rejects.toThrowError('the reader has gone');
    expect(await other).toHaveLength(2);
  });
});
