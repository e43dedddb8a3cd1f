// What a run of online training went through, step by step, with intervals: of its training episodes, and of the held-out
// ones that were measured on the way. Reads run folders that are finished, broken off or still being written.

import { TabwrightError, type AnyTrajectory, type FinishedOutcome } from '../core/index.ts';
import { meanInterval, wilsonInterval, type Interval } from '../stats/index.ts';
import { readRun, type ReadonlyRunFolder } from '../store/index.ts';

export type CurveMetric = 'reward' | 'success';

export type CurvePoint = {
  /** Updates that had been made. */
  readonly step: number;
  readonly value: number;
  /** 95 %. In training Student's over the means of the groups, which are what is independent; undefined for a single one. */
  readonly interval: Interval | undefined;
};

export type TrainingCurve = {
  readonly name: string;
  readonly metric: CurveMetric;
  /** Where the rewards come from, as the run notes it. */
  readonly rewardSource: string;
  readonly training: readonly CurvePoint[];
  readonly measured: readonly CurvePoint[];
  /** Those that broke: no points. */
  readonly failedMeasurements: number;
};

export async function readTrainingCurve(dir: string, metric: CurveMetric): Promise<TrainingCurve> {
  const run = await readRun(dir);
  const all = await run.readMetrics();
  const rows = all.filter((row) => 'env/all/by_group/frac_mixed' in row || isMeasured(row));
  if (rows.length === 0) {
    throw new TabwrightError('config', `${dir} is no run of \`tabwright train\`, or has no step yet.`, {
      code: 'no-training',
      details: { dir },
    });
  }
  const training: CurvePoint[] = [];
  const measured: CurvePoint[] = [];
  for (const { stage, step, ...row } of rows) {
    const file = String(step).padStart(6, '0');
    if ('env/all/by_group/frac_mixed' in row) {
      const point = groupPoint(step, await outcomes(run, `${stage}-${file}`), metric);
      if (point !== undefined) training.push(point);
    }
    if (isMeasured(row)) {
      const point = measuredPoint(step, await outcomes(run, `${stage}-eval-${file}`), metric);
      if (point !== undefined) measured.push(point);
    }
  }
  const { reward } = run.config;
  return {
    name: dir.replace(/\/+$/, '').split('/').at(-1) ?? dir,
    metric,
    rewardSource: typeof reward === 'string' ? reward : 'code',
    training,
    measured,
    failedMeasurements: all.filter((row) => 'test/failed' in row).length,
  };
}

type Played = { readonly task: string; readonly outcome: FinishedOutcome };

function isMeasured(row: object): boolean {
  return 'test/env/all/total_episodes' in row;
}

async function outcomes(run: ReadonlyRunFolder, name: string): Promise<readonly Played[]> {
  const trajectories: readonly AnyTrajectory[] = await run.readAnyRollouts(name);
  return trajectories.flatMap(({ task, outcome }) => (outcome.kind === 'finished' ? [{ task: task.id, outcome }] : []));
}

function valueOf({ outcome }: Played, metric: CurveMetric): number {
  return metric === 'reward' ? outcome.reward : Number(outcome.success);
}

/** Undefined where no episode was valid. */
export function groupPoint(step: number, played: readonly Played[], metric: CurveMetric): CurvePoint | undefined {
  const groups = new Map<string, number[]>();
  for (const one of played) groups.set(one.task, [...(groups.get(one.task) ?? []), valueOf(one, metric)]);
  if (groups.size === 0) return undefined;
  const means = [...groups.values()].map((values) => values.reduce((a, b) => a + b, 0) / values.length);
  const { mean, interval } = meanInterval(means);
  return { step, value: mean, interval: means.length < 2 ? undefined : within(interval, metric) };
}

function measuredPoint(step: number, played: readonly Played[], metric: CurveMetric): CurvePoint | undefined {
  if (played.length === 0) return undefined;
  const values = played.map((one) => valueOf(one, metric));
  if (metric === 'success') {
    const successes = values.reduce((a, b) => a + b, 0);
    return { step, value: successes / values.length, interval: wilsonInterval(successes, values.length) };
  }
  const { mean, interval } = meanInterval(values);
  return { step, value: mean, interval: values.length < 2 ? undefined : interval };
}

function within([low, high]: Interval, metric: CurveMetric): Interval {
  return metric === 'success' ? [Math.max(0, low), Math.min(1, high)] : [low, high];
}
