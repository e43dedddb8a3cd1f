// Supervised fine-tuning on rows: shuffled epochs, batches by token budget, the mean loss per weighted token. A
// short stage: it has one checkpoint, at its end; interrupted before, it begins again. Knows no environment.

import { z } from 'zod';
import { TabwrightError, type Datum, type Trainer } from '../core/index.ts';
import { learningRateAt } from '../algorithms/index.ts';
import { createRng } from '../util/index.ts';
import { DEFAULT_CALL_MS, trainerWithDeadlines } from './call-deadlines.ts';
import { loadLastCheckpoint, saveCheckpoint, type LoadCheckpointOptions } from './checkpoints.ts';
import type { TrainingContext } from './training-context.ts';

export const sftConfigSchema = z.strictObject({
  epochs: z.int().positive().default(3).describe('passes over the rows'),
  learningRate: z.number().positive().default(2e-4).describe('learning rate after the warm-up'),
  schedule: z
    .enum(['constant', 'linear', 'cosine'])
    .default('linear')
    .describe('how the rate goes on after the warm-up'),
  warmupSteps: z.int().nonnegative().default(5).describe('steps of linear warm-up'),
  batchTokens: z.int().positive().default(4096).describe('most tokens in a batch, one row at least'),
  gradClipNorm: z.number().nonnegative().default(1).describe('global gradient norm limit, 0 is off'),
  weightDecay: z.number().nonnegative().default(0).describe('decoupled weight decay'),
});

export type SftConfig = z.infer<typeof sftConfigSchema>;

export type SftOptions = TrainingContext & {
  readonly trainer: Trainer;
  /** Cross-entropy rows. */
  readonly data: readonly Datum[];
  readonly config: SftConfig;
};

/** Trains; the trainer holds the result, and the run folder a final checkpoint of it. */
export async function sft(given: SftOptions): Promise<void> {
  const { data, config, runSeed, stage, title = stage, run, listener, signal } = given;
  const trainer = trainerWithDeadlines(given.trainer, { stage, ms: given.trainerCallMs ?? DEFAULT_CALL_MS });
  const options = { ...given, trainer };
  const { now = () => performance.now() } = options;
  if (run !== undefined && (await isDone({ ...options, run }))) return;
  if (data.length === 0) {
    throw new TabwrightError(
      'config',
      'There is nothing to imitate: no episode passed the filter. Collect more episodes, let an oracle show some (`collect --teacher oracle`), or start from a policy that solves some.',
      { code: 'no-demonstrations' },
    );
  }
  await run?.truncateMetrics((row) => row.stage !== stage);

  const epochs = Array.from({ length: config.epochs }, (_, epoch) =>
    batchesByTokens(createRng('sft', runSeed, stage, epoch).shuffle([...data]), config.batchTokens),
  );
  const totalSteps = epochs.reduce((sum, batches) => sum + batches.length, 0);
  listener?.({ kind: 'stage-start', stage, title, total: totalSteps, unit: 'steps' });
  const start = now();
  let step = 0;
  let nll = NaN;
  for (const [epoch, batches] of epochs.entries()) {
    for (const batch of batches) {
      const stepStart = now();
      const learningRate = learningRateAt(
        { shape: config.schedule, peak: config.learningRate, warmupSteps: config.warmupSteps, totalSteps },
        step,
      );
      const { rows, totalWeight } = normalise(batch);
      const output = await trainer.forwardBackward(rows, 'cross_entropy', undefined, { signal });
      const { gradClipNorm, weightDecay } = config;
      const { metrics } = await trainer.optimStep({ learningRate, gradClipNorm, weightDecay }, { signal });
      nll = output.metrics['loss:sum'];
      const seconds = (now() - stepStart) / 1000;
      const numTokens = batch.reduce((sum, datum) => sum + datum.tokens.length, 0);
      const row = {
        epoch,
        progress: (step + 1) / totalSteps,
        learning_rate: learningRate,
        train_mean_nll: nll,
        num_sequences: batch.length,
        num_tokens: numTokens,
        loss_weight: totalWeight,
        ...metrics,
        'time/total': seconds,
      };
      run?.appendMetrics({ stage, step, ...row });
      step++;
      const tokensPerSecond = numTokens / Math.max(seconds, 1e-9);
      listener?.({ kind: 'step-end', stage, done: step, total: totalSteps, metrics: row, tokensPerSecond });
    }
  }
  if (run !== undefined) await saveCheckpoint({ run, trainer, stage, batch: step, final: true, signal });
  const seconds = (now() - start) / 1000;
  const summary = `${data.length} rows, ${step} steps, loss ${nll.toFixed(3)}`;
  listener?.({ kind: 'stage-end', stage, seconds, summary });
}

/** Whether the run holds the result, which the trainer then has. A result that is damaged is made again, as it was. */
async function isDone(options: LoadCheckpointOptions): Promise<boolean> {
  try {
    return (await loadLastCheckpoint(options)) !== undefined;
  } catch (error) {
    // One that fits another model is no damage: making it again would make something else.
    if (!(error instanceof TabwrightError) || error.code === 'checkpoint-mismatch') throw error;
    const message = `The checkpoint of ${options.stage} cannot be read, so it is made again: ${error.message}`;
    options.listener?.({ kind: 'note', level: 'warning', message });
    return false;
  }
}

/** Consecutive rows up to the budget; a row that is larger than the budget is a batch of its own. */
export function batchesByTokens(data: readonly Datum[], batchTokens: number): readonly (readonly Datum[])[] {
  const batches: Datum[][] = [];
  let room = 0;
  for (const datum of data) {
    if (datum.tokens.length > room) {
      batches.push([]);
      room = batchTokens;
    }
    batches.at(-1)!.push(datum);
    room -= datum.tokens.length;
  }
  return batches;
}

/** Weights over their sum: the loss becomes a mean, and a learning rate means the same at any batch size. */
function normalise(batch: readonly Datum[]): { rows: readonly Datum[]; totalWeight: number } {
  const totalWeight = batch.reduce(
    (sum, { lossInputs }) => sum + (lossInputs.weights ?? []).reduce((a, b) => a + Math.abs(b), 0),
    0,
  );
  const rows = batch.map(({ tokens, lossInputs }) => ({
    tokens,
    lossInputs: { ...lossInputs, weights: (lossInputs.weights ?? []).map((w) => w / Math.max(totalWeight, 1e-12)) },
  }));
  return { rows, totalWeight };
}
