// Pretraining on generated rows: next-token prediction, answers with weight one and prompts with a small weight, on
// a curriculum that gets harder when the answers are right. The rate is constant until the hardest level is reached,
// whenever that is, and falls from there. Knows no lesson; rows come by number.

import { z } from 'zod';
import type { Datum, Trainer } from '../core/index.ts';
import { learningRateAt } from '../algorithms/index.ts';
import type { TrainingContext } from './training-context.ts';

export const pretrainConfigSchema = z.strictObject({
  steps: z.int().positive().default(3000).describe('most optimiser steps'),
  decaySteps: z.int().positive().default(1200).describe('steps on the hardest level, over which the rate falls'),
  batchTokens: z.int().positive().default(2048).describe('tokens per optimiser step'),
  learningRate: z
    .number()
    .positive()
    .default(2e-3)
    .describe('learning rate after the warm-up; falls by a cosine on the hardest level'),
  floor: z.number().min(0).max(1).default(0.05).describe('share of the rate that is left at the end'),
  warmupSteps: z.int().nonnegative().default(150).describe('steps of linear warm-up'),
  promptWeight: z.number().nonnegative().default(0.02).describe('loss weight of prompt tokens; answers have 1'),
  hintWeight: z.number().nonnegative().default(0.5).describe('loss weight of hints inside the prompt'),
  advanceAt: z
    .number()
    .min(0)
    .max(1)
    .default(0.85)
    .describe('mean probability of the right answer at which lessons get harder'),
  gradClipNorm: z.number().nonnegative().default(1).describe('global gradient norm limit, 0 is off'),
  beta2: z.number().positive().max(0.9999).default(0.98).describe('decay of the second moment'),
});

export type PretrainConfig = z.infer<typeof pretrainConfigSchema>;

/** One sequence. Token ids. */
export type PretrainRow = {
  readonly prompt: readonly number[];
  readonly answer: readonly number[];
  /**
   * What the model should say at places inside the prompt, whatever really comes next there: a signal a place instead
   * of one a row.
   */
  readonly hints?: readonly { readonly position: number; readonly target: number }[];
};

export type PretrainOptions = Omit<TrainingContext, 'runSeed'> & {
  readonly trainer: Trainer;
  /** Row `index` at difficulty `level`, counted from 0. Pure. */
  readonly rows: (index: number, level: number) => PretrainRow;
  /** Number of difficulties. */
  readonly levels: number;
  readonly config: PretrainConfig;
  /**
   * Called on the hardest level and after the last step, with the trainer at rest, e.g. to measure accuracy; its
   * figures join the metrics.
   */
  readonly inspect?: () => Promise<Readonly<Record<string, number>>>;
  /** Steps on the hardest level between two calls of `inspect`. Default 100. */
  readonly inspectEvery?: number;
};

/** Share of the newest batch in the running mean that decides about the next level. */
const SMOOTHING = 0.1;
const BATCHES_DRAWN = 8;

/** Trains; the trainer holds the result. Gives the level that was reached. */
export async function pretrain(options: PretrainOptions): Promise<{ readonly level: number }> {
  const {
    trainer,
    rows,
    levels,
    config,
    stage,
    title = stage,
    run,
    listener,
    signal,
    inspect,
    inspectEvery = 100,
  } = options;
  const { now = () => performance.now() } = options;
  const start = now();
  listener?.({ kind: 'stage-start', stage, title, total: config.steps, unit: 'steps' });
  let index = 0;
  let tokens = 0;
  let level = 0;
  /** Steps taken on the hardest level. */
  let decayed = 0;
  let rightness = 0;
  let waiting: (readonly PretrainRow[])[] = [];
  for (let step = 0; step < config.steps; step++) {
    const stepStart = now();
    if (waiting.length === 0) waiting = drawBatches(() => rows(index++, level), config.batchTokens);
    const batch = waiting.shift()!;
    const size = batch.reduce((sum, row) => sum + rowTokens(row).length - 1, 0);
    const output = await trainer.forwardBackward(toData(batch, config), 'cross_entropy', {}, { signal });
    const learningRate = rateAt(config, { step, decayed });
    const adam = { learningRate, beta2: config.beta2, eps: 1e-8, gradClipNorm: config.gradClipNorm };
    const { metrics } = await trainer.optimStep(adam, { signal });
    tokens += size;

    const probabilities = batch.map(({ prompt }, i) => Math.exp(output.logprobs[i][prompt.length - 1]));
    const mean = probabilities.reduce((sum, p) => sum + p, 0) / probabilities.length;
    rightness += SMOOTHING * (mean - rightness);
    if (level === levels - 1) decayed++;
    else if (rightness > config.advanceAt) {
      level++;
      // The mean must be earned anew, on the new rows.
      rightness = 0;
      waiting = [];
    }
    const last = step === config.steps - 1 || decayed === config.decaySteps;
    const due = last || (decayed > 0 && decayed % inspectEvery === 0);
    const figures = inspect && due ? await inspect() : {};
    const seconds = (now() - stepStart) / 1000;
    const row = {
      'train/answer_probability': mean,
      'train/level': level,
      'train/loss': output.metrics['loss:sum'],
      'train/tokens': tokens,
      ...metrics,
      'time/total': seconds,
      ...figures,
    };
    run?.appendMetrics({ stage, step, ...row });
    listener?.({
      kind: 'step-end',
      stage,
      done: step + 1,
      total: config.steps,
      metrics: row,
      tokensPerSecond: size / Math.max(seconds, 1e-9),
    });
    if (last) break;
  }
  const summary = `${tokens} tokens, level ${level + 1} of ${levels}, answers right with probability ${rightness.toFixed(3)}`;
  listener?.({ kind: 'stage-end', stage, seconds: (now() - start) / 1000, summary });
  return { level };
}

/** Warm-up, a plateau of unknown length, a fall: Hu et al. 2024 (MiniCPM), section 4. */
function rateAt(
  config: PretrainConfig,
  { step, decayed }: { readonly step: number; readonly decayed: number },
): number {
  const { learningRate: peak, warmupSteps, decaySteps, floor } = config;
  if (decayed === 0) return learningRateAt({ shape: 'constant', peak, warmupSteps, totalSteps: config.steps }, step);
  return learningRateAt({ shape: 'cosine', peak, warmupSteps: 0, totalSteps: decaySteps, floor }, decayed);
}

/** A few batches at a time, each of rows of like length, so that little is padded; their order is that of the draw. */
function drawBatches(draw: () => PretrainRow, batchTokens: number): (readonly PretrainRow[])[] {
  const drawn: { readonly row: PretrainRow; readonly length: number; readonly at: number }[] = [];
  for (let total = 0; total < BATCHES_DRAWN * batchTokens;) {
    const row = draw();
    const { length } = rowTokens(row);
    drawn.push({ row, length, at: drawn.length });
    total += length - 1;
  }
  drawn.sort((a, b) => a.length - b.length || a.at - b.at);
  const batches: (typeof drawn)[] = [];
  let room = 0;
  for (const item of drawn) {
    if (room <= 0) {
      batches.push([]);
      room = batchTokens;
    }
    batches.at(-1)!.push(item);
    room -= item.length - 1;
  }
  // Short rows first would be a curriculum of its own: take the batches by where their first row was drawn.
  return batches.sort((a, b) => a[0].at - b[0].at).map((batch) => batch.map(({ row }) => row));
}

function rowTokens({ prompt, answer }: PretrainRow): number[] {
  return [...prompt, ...answer];
}

/** Rows whose weights sum to one, so that the loss is a mean. */
function toData(
  batch: readonly PretrainRow[],
  { promptWeight, hintWeight }: Pick<PretrainConfig, 'promptWeight' | 'hintWeight'>,
): readonly Datum[] {
  const rows = batch.map((row) => {
    const tokens = rowTokens(row);
    const targets = tokens.slice(1);
    const weights = targets.map((_, t) => (t + 1 < row.prompt.length ? promptWeight : 1));
    for (const { position, target } of row.hints ?? []) {
      targets[position] = target;
      weights[position] = hintWeight;
    }
    return { tokens: tokens.slice(0, -1), targets, weights };
  });
  const total = rows.reduce((sum, { weights }) => sum + weights.reduce((a, b) => a + b, 0), 0);
  return rows.map(({ tokens, targets, weights }) => ({
    tokens,
    lossInputs: { targetTokens: targets, weights: weights.map((w) => w / total) },
  }));
}
