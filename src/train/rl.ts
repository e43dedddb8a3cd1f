// Online group-relative policy gradient (GRPO): each step samples groups with the weights as they are, makes one
// update of them, and writes episodes, metrics and a checkpoint, in that order. Resumed, it goes on after the last
// checkpoint and ends where it would have ended.

import type { Group, Env, Renderer, Sampler, Trainer } from '../core/index.ts';
import { learningRateAt, rolloutMetrics } from '../algorithms/index.ts';
import { runGroups, type GroupsResult, type RolloutOptions } from '../rollout/index.ts';
import { createRng } from '../util/index.ts';
import { loadLastCheckpoint, saveCheckpoint } from './checkpoints.ts';
import type { RlConfig } from './rl-config.ts';
import { rlUpdate } from './rl-update.ts';
import { failureMetrics } from './stage-episodes.ts';
import type { TaskSampler } from './task-sampler.ts';
import type { TrainingContext } from './training-context.ts';
import { withSampler } from './with-sampler.ts';

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
    'deadlines' | 'limits' | 'maxRetries' | 'maxInvalidShare' | 'toleratedInvalid'
  >;
};

/** Trains; the trainer holds the result, and the run folder a final checkpoint of it. */
export async function rl(options: RlOptions): Promise<void> {
  const { trainer, config, stage, title = stage, run, listener, signal } = options;
  const { now = () => performance.now() } = options;
  const record = run === undefined ? undefined : await loadLastCheckpoint({ ...options, run });
  const firstStep = record?.batch ?? 0;
  await run?.truncateMetrics((row) => row.stage !== stage || row.step < firstStep);
  if (firstStep >= config.steps) return;

  listener?.({ kind: 'stage-start', stage, title, total: config.steps, unit: 'steps' });
  const start = now();
  let success = NaN;
  for (let step = firstStep; step < config.steps; step++) {
    const { metrics, groups, sampledTokens } = await rlStep(options, step, now);
    success = metrics['env/all/success'] ?? NaN;
    if (run !== undefined) {
      const name = `${stage}-${String(step).padStart(6, '0')}`;
      await run.writeRollouts(
        name,
        groups.flatMap(({ trajectories }) => trajectories),
      );
      run.appendMetrics({ stage, step, ...metrics });
      await saveCheckpoint({ run, trainer, stage, batch: step + 1, final: step + 1 === config.steps, signal });
    }
    const tokensPerSecond = sampledTokens / Math.max(metrics['time/sampling'], 1e-9);
    listener?.({ kind: 'step-end', stage, done: step + 1, total: config.steps, metrics, tokensPerSecond });
  }
  const summary = `${config.steps - firstStep} steps, last batch ${(100 * success).toFixed(1)} % solved exactly`;
  listener?.({ kind: 'stage-end', stage, seconds: (now() - start) / 1000, summary });
}

type RlStepResult = {
  readonly metrics: Readonly<Record<string, number>>;
  readonly groups: readonly Group[];
  readonly sampledTokens: number;
};

async function rlStep(options: RlOptions, step: number, now: () => number): Promise<RlStepResult> {
  const { env, trainer, renderer, sampleTasks, config, runSeed, stage, reference, signal } = options;
  const { sampling = { temperature: 1 }, rollout = {} } = options;
  const start = now();
  const result = await withSampler(trainer, signal, (sampler) =>
    runGroups(sampleTasks(step, config.groups), config.groupSize, {
      ...rollout,
      env,
      policy: { sampler, renderer },
      sampling,
      runSeed,
      stage,
      step,
      signal,
      now,
    }),
  );
  const trainStart = now();
  const learningRate = learningRateAt(
    {
      shape: config.schedule,
      peak: config.learningRate,
      warmupSteps: config.warmupSteps,
      totalSteps: config.steps,
      floor: config.floor,
    },
    step,
  );
  const update = await rlUpdate({
    trainer,
    groups: result.groups,
    config,
    learningRate,
    rng: createRng('rl', runSeed, stage, step, 'shuffle'),
    signal,
    ...(reference === undefined ? {} : { reference }),
  });
  const trajectories = result.groups.flatMap((group) => group.trajectories);
  const rollouts = rolloutMetrics(trajectories);
  const end = now();
  return {
    groups: result.groups,
    sampledTokens: rollouts['env/all/total_ac_tokens'],
    metrics: {
      'progress/batch': step,
      'progress/done_frac': (step + 1) / config.steps,
      'optim/lr': learningRate,
      ...rollouts,
      ...update,
      ...failureMetrics(result.failures),
      ...operationMetrics(result),
      'time/sampling': result.seconds,
      'time/train': (end - trainStart) / 1000,
      'time/total': (end - start) / 1000,
    },
  };
}

/** Where the time of the episodes went, summed over those that ran side by side. */
function operationMetrics({ operationSeconds }: GroupsResult): Record<string, number> {
  return Object.fromEntries(Object.entries(operationSeconds).map(([kind, s]) => [`time/episodes/${kind}`, s]));
}
