// From played episodes to the file of an evaluation. Pure: same episodes, same figures. Invalid episodes are counted by
// whose contract broke and enter no mean; what the worst and the best case would be is said beside.

import type { AnyTrajectory, JsonObject } from '../core/index.ts';
import { clusterBootstrap, passAtK, wilsonInterval } from '../stats/index.ts';
import { readJudgeSpending, readSpending, type Prices } from './evaluation-spending.ts';
import type { PlannedEpisode } from './evaluation-plan.ts';
import {
  evaluationSchema,
  type EvaluatedEpisode,
  type Evaluation,
  type EvaluationFigures,
  type EvaluationSummary,
} from './evaluation-schema.ts';

export type EvaluationInput = Omit<
  Evaluation,
  'summary' | 'byTask' | 'episodes' | 'judge' | 'environment' | 'versions'
> & {
  readonly environment: Omit<Evaluation['environment'], 'settings'> & { readonly settings: JsonObject };
  readonly versions: Readonly<Record<string, string>>;
  readonly plan: readonly PlannedEpisode[];
  /** In the order of the plan. */
  readonly trajectories: readonly AnyTrajectory[];
  readonly judge: {
    readonly id: string;
    readonly kind: string;
    readonly model: string;
    readonly promptHash: string;
  } | null;
  /** From start to end; null where the evaluation was gone on with. */
  readonly wallSeconds: number | null;
  /** Of the model's tokens, where its endpoint does not say what it charged. Default: not known. */
  readonly prices?: Prices;
};

export function buildEvaluation(input: EvaluationInput): Evaluation {
  const { plan, trajectories, wallSeconds, prices, judge, ...rest } = input;
  const episodes = plan.map((planned, i) => episodeOf(planned, trajectories[i], prices));
  const tasks = groupBy(episodes, ({ task }) => task);
  return evaluationSchema.parse({
    ...rest,
    judge:
      judge === null
        ? null
        : {
            id: judge.id,
            kind: judge.kind,
            model: judge.model,
            promptHash: judge.promptHash,
            ...readJudgeSpending(trajectories),
          },
    summary: summarise(episodes, { wallSeconds, samples: rest.sampling.samples, seed: rest.sampling.seed }),
    byTask: [...tasks].map(([task, own]) => ({ task, group: own[0].group, ...figuresOf(own) })),
    episodes,
  });
}

function episodeOf(planned: PlannedEpisode, trajectory: AnyTrajectory, prices: Prices | undefined): EvaluatedEpisode {
  const { outcome, turns, seconds } = trajectory;
  const { task, group, split, seed, sample } = planned;
  const finished = outcome.kind === 'finished' ? outcome : undefined;
  return {
    task,
    group,
    split,
    seed,
    sample,
    result: finished === undefined ? 'invalid' : finished.success ? 'success' : 'failure',
    reward: finished?.reward ?? null,
    stop: finished?.stop ?? null,
    failure:
      outcome.kind === 'invalid' ? { boundary: outcome.boundary, code: outcome.code, message: outcome.message } : null,
    actions: turns.length,
    ...readSpending(trajectory, prices),
    seconds,
  };
}

/** Of any episodes. */
export function figuresOf(episodes: readonly EvaluatedEpisode[]): EvaluationFigures {
  const valid = episodes.filter(({ result }) => result !== 'invalid');
  const successes = valid.filter(({ result }) => result === 'success').length;
  const invalid = episodes.length - valid.length;
  const mean = (values: readonly number[]): number | null => (values.length === 0 ? null : sum(values) / values.length);
  return {
    episodes: episodes.length,
    valid: valid.length,
    invalid,
    successes,
    success: valid.length === 0 ? null : successes / valid.length,
    wilson: [...wilsonInterval(successes, valid.length)],
    bounds: episodes.length === 0 ? [0, 1] : [successes / episodes.length, (successes + invalid) / episodes.length],
    rewardMean: mean(valid.map(({ reward }) => reward!)), // finished episodes have one
    actionsMean: mean(valid.map(({ actions }) => actions)),
    secondsMean: mean(valid.map(({ seconds }) => seconds)),
    promptTokens: sumIfKnown(episodes.map(({ promptTokens }) => promptTokens)),
    completionTokens: sumIfKnown(episodes.map(({ completionTokens }) => completionTokens)),
    cost: sumIfKnown(episodes.map(({ cost }) => cost)),
  };
}

type SummaryOptions = { readonly wallSeconds: number | null; readonly samples: number; readonly seed: number };

function summarise(
  episodes: readonly EvaluatedEpisode[],
  { wallSeconds, samples, seed }: SummaryOptions,
): EvaluationSummary {
  const failures: Record<string, number> = {};
  for (const { failure } of episodes) {
    if (failure === null) continue;
    const name = `${failure.boundary}/${failure.code}`;
    failures[name] = (failures[name] ?? 0) + 1;
  }
  return {
    ...figuresOf(episodes),
    tasks: new Set(episodes.map(({ task }) => task)).size,
    clustered: clusteredInterval(episodes, seed),
    passAtK: Array.from({ length: samples }, (_, i) => passOf(episodes, i + 1)).filter((one) => one !== undefined),
    failures,
    wallSeconds,
  };
}

/**
 * What an episode's outcome depends on beside its policy: instances of one task alone are the sample of interest, so
 * each counts by itself; among several tasks those of a group belong together, and else those of a task.
 */
export function clustersOf<E extends Pick<EvaluatedEpisode, 'task' | 'group' | 'seed'>>(
  episodes: readonly E[],
): { readonly unit: 'instance' | 'task' | 'group'; readonly clusters: ReadonlyMap<string, readonly E[]> } {
  const tasks = groupBy(episodes, ({ task }) => task);
  if (tasks.size === 1) return { unit: 'instance', clusters: groupBy(episodes, ({ seed }) => String(seed)) };
  const groups = groupBy(episodes, ({ group }) => group);
  return groups.size > 1 && groups.size < tasks.size
    ? { unit: 'group', clusters: groups }
    : { unit: 'task', clusters: tasks };
}

function clusteredInterval(episodes: readonly EvaluatedEpisode[], seed: number): EvaluationSummary['clustered'] {
  const valid = episodes.filter(({ result }) => result !== 'invalid');
  const { unit, clusters } = clustersOf(valid);
  if (clusters.size < 2 || clusters.size === valid.length) return null;
  const values = [...clusters.values()].map((own) => own.map(({ result }) => Number(result === 'success')));
  const { interval, degenerate, mean } = clusterBootstrap(values, { seed });
  if (!degenerate) return { unit, clusters: clusters.size, interval: [...interval], method: 'cluster bootstrap' };
  const alike = wilsonInterval(Math.round(mean * clusters.size), clusters.size);
  return { unit, clusters: clusters.size, interval: [...alike], method: 'wilson over clusters' };
}

function passOf(episodes: readonly EvaluatedEpisode[], k: number): EvaluationSummary['passAtK'][number] | undefined {
  const instances = [...groupBy(episodes, ({ task, seed }) => `${seed} ${task}`).values()].map((own) => figuresOf(own));
  const enough = instances.filter(({ valid }) => valid >= k);
  if (enough.length === 0) return undefined;
  const pass = sum(enough.map(({ valid, successes }) => passAtK(valid, successes, k))) / enough.length;
  return { k, pass, instances: enough.length, dropped: instances.length - enough.length };
}

/** In the order in which the keys come first. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const own = groups.get(key);
    if (own === undefined) groups.set(key, [item]);
    else own.push(item);
  }
  return groups;
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

/** One that is not known leaves the sum unknown. */
function sumIfKnown(values: readonly (number | null)[]): number | null {
  return values.every((value) => value !== null) ? sum(values) : null;
}
