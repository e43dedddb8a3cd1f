// Held-out measurements of the policy-gradient loop: before every n-th update, and after the last one. Their figures stand
// in the rows of `metrics.jsonl` under `test/`, their episodes in files of their own. Nothing is learned from them.

import { TabwrightError, type Trajectory } from '../core/index.ts';
import { rolloutMetrics } from '../algorithms/index.ts';
import { runEpisodes } from '../rollout/index.ts';
import { failureMetrics } from './stage-episodes.ts';
import type { RlEvaluation, RlOptions } from './rl-options.ts';
import { withSampler } from './with-sampler.ts';

/** Whether the weights before `step` are measured; those after the last step always are. */
export function isMeasured({ every }: RlEvaluation, step: number, steps: number): boolean {
  return step % every === 0 || step === steps;
}

export type Measurement = {
  readonly figures: Readonly<Record<string, number>>;
  /** Why there are none but `test/failed`. */
  readonly failure?: string;
};

/**
 * Plays the tasks with the weights as they are, writes the episodes, and gives the figures. What breaks there is noted and
 * costs this one measurement, not the training; a configuration that cannot work, a disk that takes nothing, and what is no
 * failure of the other side but a fault of ours, end it.
 */
export async function measure(options: RlOptions, evaluation: RlEvaluation, step: number): Promise<Measurement> {
  const { run, signal, listener } = options;
  try {
    return { figures: await play(options, evaluation, step) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof TabwrightError) || error.boundary === 'config' || error.boundary === 'store') throw error;
    const failure = `${error.boundary}/${error.code}: ${error.message}`;
    const note = {
      kind: 'note',
      level: 'warning',
      message: `The measurement at step ${step} failed, and training goes on without it: ${failure}`,
    } as const;
    run?.appendEvent(note);
    listener?.(note);
    return { figures: { 'test/failed': 1 }, failure };
  }
}

async function play(
  options: RlOptions,
  evaluation: RlEvaluation,
  step: number,
): Promise<Readonly<Record<string, number>>> {
  const { trainer, renderer, runSeed, run, signal, rollout = {}, now = () => performance.now() } = options;
  const { tasks, env = options.env, sampling = options.sampling ?? { temperature: 1 } } = evaluation;
  const stage = evaluationStage(options.stage);
  const { trajectories, failures, seconds } = await withSampler(trainer, signal, (sampler) =>
    runEpisodes(
      tasks.map((task) => ({ task, member: 0 })),
      // Always step 0: the draws of one measurement are those of the next, so that they differ by the weights alone.
      {
        ...rollout,
        ...evaluation.rollout,
        env,
        policy: { sampler, renderer },
        sampling,
        runSeed,
        stage,
        step: 0,
        signal,
        now,
      },
    ),
  );
  await run?.writeRollouts(evaluationName(options.stage, step), trajectories);
  refuseNone(trajectories);
  return evaluationMetrics(trajectories, { failures, seconds });
}

/** A few episodes that break off are counted; figures of none would be no figures. */
function refuseNone(trajectories: readonly Trajectory[]): void {
  const [first] = trajectories.map(({ outcome }) => outcome);
  if (first?.kind !== 'invalid' || trajectories.some(({ outcome }) => outcome.kind !== 'invalid')) return;
  const { boundary, code, message } = first;
  throw new TabwrightError(boundary, `none of ${trajectories.length} episodes came to an end; the first: ${message}`, {
    code,
  });
}

/** Names the episodes of the measurement before `step`. */
export function evaluationName(stage: string, step: number): string {
  return `${evaluationStage(stage)}-${String(step).padStart(6, '0')}`;
}

function evaluationStage(stage: string): string {
  return `${stage}-eval`;
}

function evaluationMetrics(
  trajectories: readonly Trajectory[],
  { failures, seconds }: { readonly failures: Readonly<Record<string, number>>; readonly seconds: number },
): Record<string, number> {
  const figures = { ...rolloutMetrics(trajectories), ...failureMetrics(failures), 'time/sampling': seconds };
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`test/${name}`, value]));
}
