import { describe, expect, it } from 'vitest';
import type { Datum, ProgressEvent } from '../core/index.ts';
import { createFakeTrainer } from '../testing/index.ts';
import { batchesByTokens, sft, sftConfigSchema } from './sft.ts';

const signal = new AbortController().signal;
const model = { vocabularySize: 4, window: 1, baseLogits: () => [0, 0, 0, 0] };
const row = (token: number, target: number, weight = 1): Datum => ({
  tokens: [token],
  lossInputs: { targetTokens: [target], weights: [weight] },
});

describe('sft', () => {
  it('learns its rows: the loss of the last epoch is far below that of the first', async () => {
    const trainer = createFakeTrainer(model);
    const losses: number[] = [];
    await sft({
      trainer,
      data: [row(0, 1), row(1, 2), row(2, 3)],
      config: sftConfigSchema.parse({ epochs: 30, learningRate: 0.2, warmupSteps: 0 }),
      runSeed: 1,
      stage: 'sft',
      signal,
      listener: (event: ProgressEvent) => event.kind === 'step-end' && losses.push(event.metrics['train_mean_nll']),
    });
    expect(losses[0]).toBeCloseTo(Math.log(4), 6);
    expect(losses.at(-1)).toBeLessThan(0.1);
  });

  it('takes the mean over weights: twice the weight everywhere is the same training', async () => {
    const [single, double] = [createFakeTrainer(model), createFakeTrainer(model)];
    const common = {
      config: sftConfigSchema.parse({ epochs: 1, learningRate: 0.1, gradClipNorm: 0.01 }),
      runSeed: 1,
      stage: 'sft',
      signal,
    };
    await sft({ ...common, trainer: single, data: [row(0, 1), row(0, 2, 0.5)] });
    await sft({ ...common, trainer: double, data: [row(0, 1, 2), row(0, 2, 1)] });
    expect(double.weights()).toEqual(single.weights());
  });

  it('says that there is nothing to imitate rather than train on nothing', async () => {
    const options = {
      trainer: createFakeTrainer(model),
      data: [],
      config: sftConfigSchema.parse({}),
      runSeed: 1,
      stage: 'sft',
      signal,
    };
    await expect(sft(options)).rejects.toMatchObject({ code: 'no-demonstrations' });
  });
});

describe('batchesByTokens', () => {
  it('fills batches up to the budget, in order, and gives a large row one of its own', () => {
    const sized = (length: number): Datum => ({
      tokens: Array<number>(length).fill(0),
      lossInputs: { targetTokens: [] },
    });
    const sizes = batchesByTokens([3, 4, 4, 20, 1, 9].map(sized), 10).map((batch) =>
      batch.map(({ tokens }) => tokens.length),
    );
    expect(sizes).toEqual([[3, 4], [4], [20], [1, 9]]);
  });
});
