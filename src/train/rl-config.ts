// Settings of the policy-gradient loop, and which of them go together. Data only.

import { z } from 'zod';
import { RATIO_BOUNDS } from '../algorithms/index.ts';

const rlSettings = z.strictObject({
  steps: z.int().positive().default(40).describe('updates'),
  groups: z.int().positive().default(16).describe('groups per step'),
  groupSize: z.int().min(2).default(8).describe('episodes per group, all of the same task'),
  learningRate: z.number().positive().default(4e-5).describe('learning rate after the warm-up'),
  schedule: z
    .enum(['constant', 'linear', 'cosine'])
    .default('constant')
    .describe('how the rate goes on after the warm-up'),
  warmupSteps: z.int().nonnegative().default(0).describe('steps of linear warm-up'),
  floor: z.number().min(0).max(1).default(0).describe('share of the rate that is left at the last step'),
  credit: z
    .enum(['exact', 'raw'])
    .default('exact')
    .describe('what groups are compared by: exact success, or the reward with partial credit'),
  overlong: z
    .enum(['learn', 'leave_out'])
    .default('learn')
    .describe('episodes that ran out of turns or tokens: learned from like others, or left out of group and loss'),
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

/** Extend it with `safeExtend`, which keeps the check. */
export const rlConfigSchema = rlSettings.superRefine(checkTogether);

export type RlConfig = z.infer<typeof rlSettings>;

/** Refuses what would do nothing, or be refused by the trainer after the first episodes only. */
function checkTogether(config: RlConfig, context: z.RefinementCtx): void {
  const { loss, clipLow, clipHigh, updatesPerBatch, schedule, floor } = config;
  const refuse = (name: keyof RlConfig, message: string): void =>
    context.addIssue({ code: 'custom', path: [name], message });
  if (schedule === 'constant' && floor > 0)
    refuse('floor', 'has no effect on a constant schedule; use linear or cosine');
  if (loss === 'importance_sampling') {
    if (updatesPerBatch > 1)
      refuse('updatesPerBatch', 'more than 1 needs the loss ppo or cispo, which bound the ratio');
    if (clipLow !== undefined) refuse('clipLow', 'is for the losses ppo and cispo');
    if (clipHigh !== undefined) refuse('clipHigh', 'is for the losses ppo and cispo');
    return;
  }
  const [low, high] = [clipLow ?? RATIO_BOUNDS[loss][0], clipHigh ?? RATIO_BOUNDS[loss][1]];
  if (low >= high) {
    refuse(clipLow === undefined ? 'clipHigh' : 'clipLow', `the bounds of the ratio would be ${low} to ${high}`);
  }
}
