// Online group-relative policy gradient (GRPO): each step samples groups with the weights as they are, makes one
// update of them, and writes episodes, metrics and a checkpoint, in that order. Resumed, it goes on after the last
// checkpoint and ends where it would have ended. Episodes may run ahead of the updates by a fixed number of steps.

import { TabwrightError, type Group } from '../core/index.ts';
import { learningRateAt, rolloutMetrics } from '../algorithms/index.ts';
import type { GroupsResult } from '../rollout/index.ts';
import { createRng } from '../util/index.ts';
import { saveCheckpoint } from './checkpoints.ts';
import { DEFAULT_CALL_MS, trainerWithDeadlines } from './call-deadlines.ts';
import { isMeasured, measure, type Measurement } from './rl-evaluation.ts';
import type { RlOptions } from './rl-options.ts';
import { resumeRl } from './rl-resume.ts';
import { openRlRollouts, type RlRollouts } from './rl-rollouts.ts';
import { rlUpdate } from './rl-update.ts';
import { failureMetrics } from './stage-episodes.ts';

/** Trains; the trainer holds the result, and the run folder a final checkpoint of it. */
export async function rl(given: RlOptions): Promise<void> {
  const { config, stage, title = stage, run, listener, signal, trainerCallMs = DEFAULT_CALL_MS } = given;
  const trainer = trainerWithDeadlines(given.trainer, { stage, ms: trainerCallMs });
  const options = { ...given, trainer };
  const { now = () => performance.now() } = options;
  const { stepsOffPolicy = 0, saveEvery = 1 } = options;
  checkPace(stepsOffPolicy, saveEvery);
  const { firstStep, samplers } = await resumeRl({ ...options, stepsOffPolicy });
  // The row after the last step is that of the last measurement, which is made once unless it failed.
  await run?.truncateMetrics(
    (row) =>
      row.stage !== stage || row.step < firstStep || (row.step === config.steps && row['test/failed'] === undefined),
  );
  if (firstStep >= config.steps) return measureLast(options);

  listener?.({ kind: 'stage-start', stage, title, total: config.steps, unit: 'steps' });
  const start = now();
  let success = NaN;
  await using rollouts = openRlRollouts({ ...options, samplers });
  for (let step = firstStep; step < config.steps; step++) {
    for (let ahead = step; ahead < Math.min(config.steps, step + stepsOffPolicy + 1); ahead++)
      await rollouts.begin(ahead);
    const { metrics, failure, groups, sampledTokens } = await rlStep({ options, rollouts, step, now });
    success = metrics['env/all/success'] ?? NaN;
    if (run !== undefined) {
      const name = `${stage}-${String(step).padStart(6, '0')}`;
      await run.writeRollouts(
        name,
        groups.flatMap(({ trajectories }) => trajectories),
      );
      run.appendMetrics({ stage, step, ...options.labels, ...failure, ...metrics });
      const batch = step + 1;
      const final = batch === config.steps;
      if (final || batch % saveEvery === 0) {
        await saveCheckpoint({ run, trainer, stage, batch, final, every: saveEvery, kept: stepsOffPolicy + 2, signal });
      }
    }
    const tokensPerSecond = sampledTokens / Math.max(metrics['time/sampling'], 1e-9);
    listener?.({ kind: 'step-end', stage, done: step + 1, total: config.steps, metrics, tokensPerSecond });
  }
  await measureLast(options);
  const summary = `${config.steps - firstStep} steps, last batch ${(100 * success).toFixed(1)} % solved exactly`;
  listener?.({ kind: 'stage-end', stage, seconds: (now() - start) / 1000, summary });
}

/** What came of it, in a row of its own after that of the last step; nothing where it has been measured. */
async function measureLast(options: RlOptions): Promise<void> {
  const { evaluation, run, stage, config, labels } = options;
  if (evaluation === undefined || run === undefined) return;
  const step = config.steps;
  if ((await run.readMetrics()).some((row) => row.stage === stage && row.step === step)) return;
  const measurement = await measure(options, evaluation, step);
  run.appendMetrics({
    stage,
    step,
    ...labels,
    ...failureOf(measurement),
    'progress/batch': step,
    ...measurement.figures,
  });
}

function failureOf({ failure }: Measurement): Readonly<Record<string, string>> {
  return failure === undefined ? {} : { 'test/failure': failure };
}

/** Playing ahead needs the checkpoint of every step to go on from. */
function checkPace(stepsOffPolicy: number, saveEvery: number): void {
  if (stepsOffPolicy === 0 || saveEvery === 1) return;
  throw new TabwrightError(
    'config',
    `Episodes ${stepsOffPolicy} steps off policy need a checkpoint of every step to resume from, not of every ${saveEvery}.`,
    { code: 'off-policy-needs-checkpoints' },
  );
}

type RlStepResult = {
  readonly metrics: Readonly<Record<string, number>>;
  /** Of a measurement, for its row. */
  readonly failure: Readonly<Record<string, string>>;
  readonly groups: readonly Group[];
  readonly sampledTokens: number;
};

type RlStepOptions = {
  readonly options: RlOptions;
  readonly rollouts: RlRollouts;
  readonly step: number;
  readonly now: () => number;
};

async function rlStep({ options, rollouts, step, now }: RlStepOptions): Promise<RlStepResult> {
  const { trainer, config, runSeed, stage, reference, signal, trainerCallMs } = options;
  const start = now();
  const { evaluation } = options;
  const measured =
    evaluation !== undefined && isMeasured(evaluation, step, config.steps)
      ? await measure(options, evaluation, step)
      : { figures: {} };
  const result = await rollouts.take(step);
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
    ...(trainerCallMs === undefined ? {} : { referenceCallMs: trainerCallMs }),
    ...(reference === undefined ? {} : { reference }),
  });
  const trajectories = result.groups.flatMap((group) => group.trajectories);
  const played = rolloutMetrics(trajectories);
  const end = now();
  return {
    groups: result.groups,
    failure: failureOf(measured),
    sampledTokens: played['env/all/total_ac_tokens'],
    metrics: {
      'progress/batch': step,
      'progress/done_frac': (step + 1) / config.steps,
      'optim/lr': learningRate,
      ...played,
      ...update,
      ...failureMetrics(result.failures),
      ...operationMetrics(result),
      ...measured.figures,
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
