// Plays the episodes of a plan and keeps each as it ends, so that an evaluation that was stopped, or killed, is gone on
// with: those that have an outcome are read back, the missing ones are played. An episode that broke off has no outcome,
// so it is played again; once all have been tried, the evaluation is complete and stays as it is.

import { rolloutMetrics } from '../algorithms/index.ts';
import type { AnyTrajectory, ProgressListener, Trajectory } from '../core/index.ts';
import { DEFAULT_DEADLINES, runActorEpisodes, type ActorRolloutOptions } from '../rollout/index.ts';
import type { RunFolder } from '../store/index.ts';
import { failureMetrics } from '../train/index.ts';
import { percent } from '../util/index.ts';
import type { PlannedEpisode } from './evaluation-plan.ts';

export type PlayEvaluationOptions<R> = Omit<ActorRolloutOptions<R>, 'stage' | 'step' | 'onEpisode' | 'screenshots'> & {
  readonly plan: readonly PlannedEpisode[];
  /** Holds the episodes. */
  readonly run: RunFolder;
  /** One line for people. */
  readonly title: string;
};

export type PlayedEvaluation = {
  /** In the order of the plan. */
  readonly trajectories: readonly AnyTrajectory[];
  /** Episodes that were there before. */
  readonly resumed: number;
  /** Null where some were. */
  readonly wallSeconds: number | null;
};

/** Names the file of episodes and the draws. */
const STAGE = 'eval';
const MAX_RETRIES = 2;

export async function playEvaluation<R>(options: PlayEvaluationOptions<R>): Promise<PlayedEvaluation> {
  const { plan, run, title, listener, env, deadlines, maxRetries = MAX_RETRIES } = options;
  if (await run.hasRollouts(STAGE)) {
    const trajectories = await run.readAnyRollouts(STAGE);
    return { trajectories, resumed: trajectories.length, wallSeconds: null };
  }
  const done = await finishedBefore(run, plan);
  const missing = plan.filter((planned) => !done.has(keyOf(planned)));
  await run.truncateMetrics((row) => row.stage !== STAGE);
  listener?.({ kind: 'stage-start', stage: STAGE, title, total: plan.length, unit: 'episodes' });
  const limits = { ...DEFAULT_DEADLINES, ...deadlines };
  const rounds = Math.ceil(missing.length / env.capacity);
  const { trajectories, failures, seconds } = await runActorEpisodes(
    missing.map(({ request }) => request),
    {
      ...options,
      maxRetries,
      stage: STAGE,
      deadlines: { ...limits, runMs: Math.max(limits.runMs, rounds * (maxRetries + 1) * limits.episodeMs) },
      screenshots: {
        wants: () => false,
        prefix: STAGE,
        save: (fileName, png) => run.writeScreenshot(fileName, png),
      },
      onEpisode: (trajectory) => run.appendEpisode(STAGE, trajectory as AnyTrajectory),
      ...(listener === undefined ? {} : { listener: counting(listener, plan.length, [...done.values()]) }),
    },
  );
  for (const [i, planned] of missing.entries()) done.set(keyOf(planned), trajectories[i] as AnyTrajectory);
  const all = plan.map((planned) => done.get(keyOf(planned))!); // those that were there, and all others
  run.appendMetrics({ stage: STAGE, step: 0, ...metricsOf(all), ...failureMetrics(failures), 'time/total': seconds });
  await run.writeRollouts(STAGE, all);
  listener?.({ kind: 'stage-end', stage: STAGE, seconds, summary: summaryOf(all) });
  const resumed = plan.length - missing.length;
  return { trajectories: all, resumed, wallSeconds: resumed === 0 ? seconds : null };
}

/** Of the plan, and with an outcome: one that nobody judges counts, because playing it again changes nothing. */
async function finishedBefore(run: RunFolder, plan: readonly PlannedEpisode[]): Promise<Map<string, AnyTrajectory>> {
  const planned = new Set(plan.map(keyOf));
  const done = new Map<string, AnyTrajectory>();
  for (const trajectory of await run.readEpisodeLog(STAGE)) {
    const { task, member, outcome } = trajectory;
    const key = keyOf({ request: { task, member } });
    if (planned.has(key) && (outcome.kind === 'finished' || outcome.code === 'not-judged')) done.set(key, trajectory);
  }
  return done;
}

function keyOf({ request: { task, member } }: Pick<PlannedEpisode, 'request'>): string {
  return `${task.id} ${task.seed} ${member}`;
}

/** Counts what was there before as well. */
function counting(listener: ProgressListener, total: number, before: readonly AnyTrajectory[]): ProgressListener {
  const successes = before.filter(({ outcome }) => outcome.kind === 'finished' && outcome.success).length;
  const invalid = before.filter(({ outcome }) => outcome.kind === 'invalid').length;
  return (event) => {
    if (event.kind !== 'episode-end') return listener(event);
    listener({
      ...event,
      total,
      done: event.done + before.length,
      successes: event.successes + successes,
      invalid: event.invalid + invalid,
    });
  };
}

/** Of policies that give tokens, what every stage notes; of others, what their episodes tell. */
function metricsOf(all: readonly AnyTrajectory[]): Record<string, number> {
  if (all.every((trajectory): trajectory is Trajectory => !trajectory.turns.some((turn) => 'reply' in turn))) {
    return { ...rolloutMetrics(all) };
  }
  const { valid, successes } = countsOf(all);
  return {
    'env/all/total_episodes': valid,
    'env/all/invalid_episodes': all.length - valid,
    'env/all/total_turns': all.reduce((sum, { turns }) => sum + turns.length, 0),
    ...(valid === 0 ? {} : { 'env/all/success': successes / valid }),
  };
}

function countsOf(all: readonly AnyTrajectory[]): { readonly valid: number; readonly successes: number } {
  const finished = all.flatMap(({ outcome }) => (outcome.kind === 'finished' ? [outcome] : []));
  return { valid: finished.length, successes: finished.filter(({ success }) => success).length };
}

function summaryOf(all: readonly AnyTrajectory[]): string {
  const { valid, successes } = countsOf(all);
  const share = valid === 0 ? '' : ` (${percent(successes / valid)})`;
  const invalid = all.length - valid;
  return `${successes} of ${valid} solved exactly${share}${invalid === 0 ? '' : `, ${invalid} invalid`}`;
}
