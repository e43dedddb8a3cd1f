// Settings of the quickstart and the seeds it derives from them. Data only; where the run is written is no setting
// of it.

import { z } from 'zod';
import { rlConfigSchema, sftConfigSchema } from '../train/index.ts';

/**
 * The loops' settings with defaults for training every weight of a model of about a million; the loops' own defaults
 * are for adapters of large ones, which want rates ten times smaller.
 */
export const smallSftSchema = sftConfigSchema.extend({
  learningRate: z.number().positive().default(5e-4).describe('learning rate after the warm-up'),
  epochs: z.int().positive().default(4).describe('passes over the rows'),
  batchTokens: z.int().positive().default(2048).describe('most tokens in a batch, one row at least'),
});
export const smallRlSchema = rlConfigSchema.safeExtend({
  learningRate: z.number().positive().default(7e-4).describe('learning rate after the warm-up'),
  steps: z.int().positive().default(60).describe('updates'),
  schedule: rlConfigSchema.shape.schedule.default('linear'),
  beta: z.number().nonnegative().default(0.02).describe('KL penalty towards the reference, per nat'),
});

export const quickstartConfigSchema = z.strictObject({
  seed: z.int().nonnegative().max(1_000_000_000).default(1).describe('makes the run reproducible'),
  evalEpisodes: z.int().positive().max(100_000).default(200).describe('held-out puzzles, the same at every stage'),
  collectEpisodes: z.int().positive().max(100_000).default(800).describe('episodes of the base to learn from'),
  filter: z.enum(['exact', 'lenient', 'none']).default('exact').describe('which of them are imitated'),
  temperature: z.number().positive().default(1).describe('of every draw, unless evalTemperature is set'),
  evalTemperature: z.number().nonnegative().optional().describe('of the draws of evaluations, 0 is greedy'),
  pages: z.int().positive().max(64).default(16).describe('pages open at once'),
  pictures: z.int().nonnegative().default(20).describe('episodes per evaluation whose pictures are kept'),
  sft: smallSftSchema.prefault({}),
  grpo: smallRlSchema.prefault({}),
});

export type QuickstartConfig = z.infer<typeof quickstartConfigSchema>;

/** First seed of the held-out puzzles. The same in every run, so that runs can be compared puzzle by puzzle. */
export const EVAL_FIRST_SEED = 1_000_000;

/**
 * First seeds of the training puzzles. All lie at 2,000,000 or above and held-out ones below, so the two cannot
 * meet; each run seed has a million for collection and a million for GRPO, of its own.
 */
export function trainingSeeds(runSeed: number): { readonly collect: number; readonly grpo: number } {
  const block = 2_000_000 * (1 + runSeed);
  return { collect: block, grpo: block + 1_000_000 };
}
