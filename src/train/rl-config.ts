// Settings of the policy-gradient loop. Data only.

import { z } from 'zod';

export const rlConfigSchema = z.strictObject({
  steps: z.int().positive().default(40).describe('updates'),
  puzzles: z.int().positive().default(16).describe('groups per step'),
  groupSize: z.int().min(2).default(8).describe('episodes per group, all of the same puzzle'),
  learningRate: z.number().positive().default(4e-5).describe('learning rate after the warm-up'),
  schedule: z
    .enum(['constant', 'linear', 'cosine'])
    .default('constant')
    .describe('how the rate goes on after the warm-up'),
  warmupSteps: z.int().nonnegative().default(0).describe('steps of linear warm-up'),
  floor: z.number().min(0).max(1).default(0).describe('share of the rate that is left at the last step'),
  reward: z.enum(['exact', 'raw']).default('exact').describe('exact success, or the raw reward with partial credit'),
  shuffleRewards: z.boolean().default(false).describe('negative control: rewards shuffled within the batch'),
  normalise: z.enum(['none', 'std']).default('none').describe('divide advantages by the deviation of their group'),
  loss: z.enum(['importance_sampling', 'ppo', 'cispo']).default('importance_sampling').describe('policy loss'),
  clipLow: z.number().nonnegative().optional().describe('lower ratio bound of ppo and cispo'),
  clipHigh: z.number().positive().optional().describe('upper ratio bound of ppo and cispo'),
  aggregation: z
    .enum(['sum', 'token_mean', 'sequence_mean'])
    .default('token_mean')
    .describe('how token losses are weighed'),
  beta: z.number().nonnegative().default(0).describe('KL penalty towards the reference, per nat'),
  updatesPerBatch: z.int().positive().default(1).describe('optimiser steps per batch; more than 1 needs ppo or cispo'),
  gradClipNorm: z.number().nonnegative().default(1).describe('global gradient norm limit, 0 is off'),
  weightDecay: z.number().nonnegative().default(0).describe('decoupled weight decay'),
});

export type RlConfig = z.infer<typeof rlConfigSchema>;
