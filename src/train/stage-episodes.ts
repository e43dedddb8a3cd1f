// The episodes of a stage, once: run and written if they are not in the run folder yet, read back if they are. The
// file of episodes is written last and marks the stage as complete.

import type { Actor, ChatRecord, FinishedOutcome, Trajectory } from '../core/index.ts';
import { rolloutMetrics } from '../algorithms/index.ts';
import {
  demonstratingActor,
  runActorEpisodes,
  tokenActor,
  type EpisodeRequest,
  type RolloutOptions,
} from '../rollout/index.ts';
import type { TrainingContext } from './training-context.ts';

export type StageEpisodesOptions = TrainingContext &
  Pick<
    RolloutOptions,
    'env' | 'policy' | 'sampling' | 'deadlines' | 'limits' | 'maxRetries' | 'maxInvalidShare' | 'tokenBudget'
  > & {
    readonly requests: readonly EpisodeRequest[];
    /** Acts in place of the policy, whose renderer says what it does. Default none. */
    readonly teacher?: Actor<ChatRecord>;
    /** Of which episodes pictures are kept; needs `run`. Default: none. */
    readonly wantsScreenshots?: (request: EpisodeRequest) => boolean;
  };

export async function stageEpisodes(options: StageEpisodesOptions): Promise<readonly Trajectory[]> {
  const { run, stage, title = stage, requests, listener, wantsScreenshots, teacher, policy } = options;
  if (run !== undefined && (await run.hasRollouts(stage))) return run.readRollouts(stage);
  await run?.truncateMetrics((row) => row.stage !== stage);
  listener?.({ kind: 'stage-start', stage, title, total: requests.length, unit: 'episodes' });
  const screenshots =
    run === undefined || wantsScreenshots === undefined
      ? {}
      : {
          screenshots: {
            wants: wantsScreenshots,
            prefix: stage,
            save: (fileName: string, png: Uint8Array) => run.writeScreenshot(fileName, png),
          },
        };
  const actor =
    teacher === undefined ? tokenActor(options) : demonstratingActor({ teacher, renderer: policy.renderer });
  const result = await runActorEpisodes(requests, { ...options, ...screenshots, actor });
  run?.appendMetrics({
    stage,
    step: 0,
    ...rolloutMetrics(result.trajectories),
    ...failureMetrics(result.failures),
    'time/total': result.seconds,
  });
  await run?.writeRollouts(stage, result.trajectories);
  listener?.({ kind: 'stage-end', stage, seconds: result.seconds, summary: summary(result.trajectories) });
  return result.trajectories;
}

/** Failed attempts, those that were run again included. */
export function failureMetrics(failures: Readonly<Record<string, number>>): Record<string, number> {
  const metrics: Record<string, number> = { 'rollout_errors/total': 0 };
  for (const [name, count] of Object.entries(failures)) {
    metrics[`rollout_errors/${name}`] = count;
    metrics['rollout_errors/total'] += count;
  }
  return metrics;
}

function summary(trajectories: readonly Trajectory[]): string {
  const valid = trajectories.map(({ outcome }) => outcome).filter((o): o is FinishedOutcome => o.kind === 'finished');
  const solved = valid.filter(({ success }) => success).length;
  const invalid = trajectories.length - valid.length;
  const share = valid.length === 0 ? '' : ` (${((100 * solved) / valid.length).toFixed(1)} %)`;
  return `${solved} of ${valid.length} solved exactly${share}${invalid === 0 ? '' : `, ${invalid} invalid`}`;
}
