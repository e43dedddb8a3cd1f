// Training loops, one a file, over interfaces: any trainer, any environment.

export {
  loadLastCheckpoint,
  saveCheckpoint,
  type LoadCheckpointOptions,
  type SaveCheckpointOptions,
} from './checkpoints.ts';
export { collect, type Collection, type CollectOptions } from './collect.ts';
export { evaluate, type EvaluateOptions } from './evaluate.ts';
export {
  pretrain,
  pretrainConfigSchema,
  type PretrainConfig,
  type PretrainOptions,
  type PretrainRow,
} from './pretrain.ts';
export { rlConfigSchema, type RlConfig } from './rl-config.ts';
export { groupRewards, shuffleRewards, type GroupRewards } from './rl-rewards.ts';
export { rlUpdate, type RlUpdateOptions } from './rl-update.ts';
export type { RlEvaluation, RlOptions } from './rl-options.ts';
export { rl } from './rl.ts';
export { batchesByTokens, sft, sftConfigSchema, type SftConfig, type SftOptions } from './sft.ts';
export { supervisedRate, type RatedModel } from './supervised-rate.ts';
export { createTaskSampler, type TaskSampler, type TaskSamplerOptions } from './task-sampler.ts';
export { createTaskListSampler, type TaskListSamplerOptions } from './task-list-sampler.ts';
export type { TrainingContext } from './training-context.ts';
export { withSampler } from './with-sampler.ts';
export { failureMetrics } from './stage-episodes.ts';
