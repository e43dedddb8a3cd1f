import { describe, expect, it } from 'vitest';
import type { Datum, Trainer } from '../core/index.ts';
import { pretrain, pretrainConfigSchema, type PretrainRow } from './pretrain.ts';

/** A trainer that learns nothing: it gives every token the same log-probability and keeps what it was shown. */
function recorder(logprob: number): {
  readonly trainer: Trainer;
  readonly batches: (readonly Datum[])[];
  readonly rates: number[];
} {
  const batches: (readonly Datum[])[] = [];
  const rates: number[] = [];
  const trainer = {
    forwardBackward: (data: readonly Datum[]) => {
      batches.push(data);
      return Promise.resolve({
        logprobs: data.map(({ tokens }) => new Float32Array(tokens.length).fill(logprob)),
        metrics: { 'loss:sum': 1 },
      });
    },
    optimStep: ({ learningRate }: { learningRate: number }) => {
      rates.push(learningRate);
      return Promise.resolve({ metrics: {} });
    },
  } as unknown as Trainer;
  return { trainer, batches, rates };
}

const { signal } = new AbortController();
const row: PretrainRow = { prompt: [1, 2, 3], answer: [4, 5], hints: [{ position: 1, target: 9 }] };
const config = (overrides: object): ReturnType<typeof pretrainConfigSchema.parse> =>
  pretrainConfigSchema.parse({ batchTokens: 8, warmupSteps: 0, ...overrides });

describe('pretraining', () => {
  it('weighs answers 1, prompts little, hints in between, and puts the hint where the next token was', async () => {
    const { trainer, batches } = recorder(-1);
    await pretrain({
      stage: 'p',
      trainer,
      rows: () => row,
      levels: 1,
      signal,
      config: config({ steps: 1, promptWeight: 0.25, hintWeight: 0.5 }),
    });
    const { tokens, lossInputs } = batches[0][0];
    expect(tokens).toEqual([1, 2, 3, 4]);
    expect(lossInputs.targetTokens).toEqual([2, 9, 4, 5]);
    const weights = lossInputs.weights!;
    // Relative to each other 0.25 : 0.5 : 1 : 1, and one in sum over the batch.
    expect(weights.map((w) => w / weights[3])).toEqual([0.25, 0.5, 1, 1]);
    const total = batches[0].flatMap((datum) => datum.lossInputs.weights!).reduce((a, b) => a + b, 0);
    expect(total).toBeCloseTo(1, 6);
  });

  it('gets harder only when the answers are right', async () => {
    const levelsSeen = async (logprob: number): Promise<number> => {
      const seen = new Set<number>();
      const { trainer } = recorder(logprob);
      const rows = (_: number, level: number): PretrainRow => {
        seen.add(level);
        return row;
      };
      await pretrain({ stage: 'p', trainer, rows, levels: 3, signal, config: config({ steps: 200, advanceAt: 0.5 }) });
      return seen.size;
    };
    expect(await levelsSeen(Math.log(0.9))).toBe(3);
    expect(await levelsSeen(Math.log(0.4))).toBe(1);
  });

  it('takes the steps it is told, in batches of the size it is told, with a falling rate', async () => {
    const { trainer, batches, rates } = recorder(-1);
    const lengths = [2, 3, 5, 9];
    const rows = (index: number): PretrainRow => ({ prompt: Array<number>(lengths[index % 4]).fill(1), answer: [2] });
    await pretrain({
      stage: 'p',
      trainer,
      rows,
      levels: 1,
      signal,
      config: config({ steps: 12, decaySteps: 10, batchTokens: 40, floor: 0.1, learningRate: 1 }),
    });
    const sizes = batches.map((batch) => batch.reduce((sum, { tokens }) => sum + tokens.length, 0));
    expect(Math.max(...sizes)).toBeLessThan(40 + 9);
    expect(sizes).toHaveLength(10);
    expect(sizes.reduce((a, b) => a + b, 0)).toBeGreaterThanOrEqual(400);
    expect(rates[0]).toBe(1);
    expect(rates.at(-1)).toBeLessThan(0.2);
    // Rows of like length share a batch, so that little is padded.
    const spread = batches.map(
      (batch) =>
        Math.max(...batch.map(({ tokens }) => tokens.length)) - Math.min(...batch.map(({ tokens }) => tokens.length)),
    );
    expect(spread.reduce((a, b) => a + b, 0) / spread.length).toBeLessThan(4);
  });

  it('lowers the rate and measures on the hardest level alone, and ends with it', async () => {
    const { trainer, batches, rates } = recorder(Math.log(0.9));
    const measuredAt: number[] = [];
    const settings = config({ steps: 200, decaySteps: 5, advanceAt: 0.5, learningRate: 1, floor: 0.1 });
    const { level } = await pretrain({
      stage: 'p',
      trainer,
      rows: () => row,
      levels: 3,
      signal,
      config: settings,
      inspectEvery: 2,
      inspect: () => {
        measuredAt.push(batches.length);
        return Promise.resolve({ accuracy: 1 });
      },
    });
    expect(level).toBe(2);
    // A running mean of 0.9 passes 0.5 after eight steps, twice.
    expect(measuredAt).toEqual([18, 20, 21]);
    expect(batches).toHaveLength(21);
    expect(rates.slice(0, 17)).toEqual(Array<number>(17).fill(1));
    expect(rates.slice(17).every((rate, i) => rate < rates[16 + i])).toBe(true);
  });

  it('stops when it is told to', async () => {
    const { trainer } = recorder(-1);
    const stopped = {
      ...trainer,
      forwardBackward: (_d: unknown, _l: unknown, _c: unknown, options: { signal: AbortSignal }) => {
        options.signal.throwIfAborted();
        return Promise.reject(new Error('not reached'));
      },
    } as unknown as Trainer;
    await expect(
      pretrain({
        stage: 'p',
        trainer: stopped,
        rows: () => row,
        levels: 1,
        signal: AbortSignal.abort(),
        config: config({ steps: 10 }),
      }),
    ).rejects.toMatchObject({ name: 'AbortError' });
  });
});
