// What the policy-gradient loop is given, and how far its episodes may run ahead. Types only.

import type { Env, Renderer, Sampler, Task, Trainer } from '../core/index.ts';
import type { RolloutOptions } from '../rollout/index.ts';
import type { RlConfig } from './rl-config.ts';
import type { TaskSampler } from './task-sampler.ts';
import type { TrainingContext } from './training-context.ts';

export type RlEvaluation = {
  /** Where they are played. Default the environment of training. */
  readonly env?: Env;
  /** One episode each, the same every time. */
  readonly tasks: readonly Task[];
  /** Updates between two measurements. */
  readonly every: number;
  /** Default: as in training. */
  readonly sampling?: RolloutOptions['sampling'];
  /** Default: as in training. */
  readonly rollout?: Pick<RolloutOptions, 'deadlines' | 'tokenBudget'>;
};

export type RlOptions = TrainingContext & {
  readonly env: Env;
  readonly trainer: Trainer;
  readonly renderer: Renderer;
  readonly sampleTasks: TaskSampler;
  readonly config: RlConfig;
  /** See `RlUpdateOptions.reference`. */
  readonly reference?: Sampler;
  /** Default: temperature 1, nothing truncated; anything else makes the ratio a lie. */
  readonly sampling?: RolloutOptions['sampling'];
  /** Passed on to the rollouts. */
  readonly rollout?: Pick<
    RolloutOptions,
    'deadlines' | 'limits' | 'maxRetries' | 'maxInvalidShare' | 'toleratedInvalid' | 'tokenBudget'
  >;
  /**
   * Episodes of a step are played with the weights of this many updates before it, while those updates are made. Always
   * exactly so many, so that the run stays reproducible. Default 0: each step waits for the one before.
   */
  readonly stepsOffPolicy?: number;
  /** Updates between two checkpoints; what comes after the last one is done again on resume. Default 1. */
  readonly saveEvery?: number;
  /** Measured on the way. Default: nothing. */
  readonly evaluation?: RlEvaluation;
  /** Stands in every row of metrics, e.g. where the rewards come from. Default none. */
  readonly labels?: Readonly<Record<string, string>>;
};
