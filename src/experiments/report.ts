// Turns the evaluated episodes of a run into the figures of `report.json`. Pure: same episodes, same report. It
// neither reads nor writes files, and knows no other suite than click-checkboxes.

import type { FinishedOutcome, JsonObject, Trajectory } from '../core/index.ts';
import {
  hoeffdingHalfWidth,
  mcNemar,
  minimumDetectableDifference,
  pairedBootstrap,
  wilsonInterval,
} from '../stats/index.ts';
import {
  checkboxDetails,
  classifyFailure,
  FAILURE_CLASSES,
  type Failure,
  type FailureClass,
} from './failure-classes.ts';
import { contextOf, headlineOf } from './headline.ts';
import {
  REPORT_VERSION,
  reportSchema,
  type Comparison,
  type Machine,
  type Report,
  type StageReport,
} from './report-schema.ts';

export type EvaluatedStage = {
  /** Unique, e.g. `rl`. */
  readonly name: string;
  /** For people, e.g. `GRPO`. */
  readonly title: string;
  /** One episode for each held-out puzzle, the same puzzles in every stage. */
  readonly trajectories: readonly Trajectory[];
};

export type ReportInput = {
  readonly env: string;
  readonly model: string;
  /** In the order in which they happened. */
  readonly stages: readonly EvaluatedStage[];
  readonly baselines: Report['baselines'];
  /** Wall-clock time of the whole run. */
  readonly seconds: number;
  readonly seeds: { readonly run: number; readonly evaluation: { readonly first: number; readonly count: number } };
  readonly machine: Machine;
  /** Commit of the program, null when it is not known. */
  readonly commit: string | null;
  readonly config: JsonObject;
  /** Of the paired bootstrap. Default 10,000. */
  readonly resamples?: number;
};

/** Each stage is compared with the one before it, and the last with the first. */
export function buildReport(input: ReportInput): Report {
  const { stages, resamples = 10_000 } = input;
  const stageReports = stages.map(reportStage);
  const pairs = stages.slice(1).map((stage, i) => [stages[i], stage] as const);
  if (stages.length > 2) pairs.push([stages[0], stages[stages.length - 1]]);
  const bootstrapSeed = input.seeds.run;
  return reportSchema.parse({
    version: REPORT_VERSION,
    headline: headlineOf(stageReports),
    context: contextOf(stageReports, input.baselines),
    env: input.env,
    model: input.model,
    stages: stageReports,
    comparisons: pairs.map(([a, b]) => compare(a, b, { seed: bootstrapSeed, resamples })),
    baselines: input.baselines,
    seconds: input.seconds,
    seeds: { ...input.seeds, bootstrap: bootstrapSeed },
    machine: input.machine,
    commit: input.commit,
    config: input.config,
  });
}

type Classed = {
  readonly trajectory: Trajectory;
  readonly outcome: FinishedOutcome;
  readonly failure: Failure | undefined;
};

function reportStage({ name, title, trajectories }: EvaluatedStage): StageReport {
  const valid = trajectories.flatMap((trajectory): Classed[] =>
    trajectory.outcome.kind === 'invalid'
      ? []
      : [{ trajectory, outcome: trajectory.outcome, failure: classifyFailure(trajectory) }],
  );
  const episodes = trajectories.length;
  const invalid = episodes - valid.length;
  const successes = countSuccesses(valid);
  const mean = (value: (episode: Classed) => number): number | null =>
    valid.length === 0 ? null : valid.reduce((sum, episode) => sum + value(episode), 0) / valid.length;
  return {
    name,
    title,
    episodes,
    valid: valid.length,
    invalid,
    successes,
    exact: mean(({ outcome }) => Number(outcome.success)),
    exactCI: [...wilsonInterval(successes, valid.length)],
    exactBounds: episodes === 0 ? [0, 1] : [successes / episodes, (successes + invalid) / episodes],
    lenient: mean(({ outcome }) => Number(outcome.reward > 0)),
    rawMean: mean(({ outcome }) => outcome.reward),
    actionsMean: mean(({ trajectory }) => trajectory.turns.length),
    failures: countFailures(valid),
    shortBy: shortfalls(valid),
    byWanted: groupByWanted(valid),
  };
}

function countSuccesses(episodes: readonly Classed[]): number {
  return episodes.filter(({ outcome }) => outcome.success).length;
}

function countFailures(episodes: readonly Classed[]): Record<FailureClass, number> {
  const counts = Object.fromEntries(FAILURE_CLASSES.map((name) => [name, 0])) as Record<FailureClass, number>;
  for (const { failure } of episodes) if (failure !== undefined) counts[failure.class]++;
  return counts;
}

function shortfalls(episodes: readonly Classed[]): StageReport['shortBy'] {
  const counts = new Map<number, number>();
  for (const { failure } of episodes) {
    if (failure?.class === 'premature-submit') counts.set(failure.missing, (counts.get(failure.missing) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => a - b).map(([missing, count]) => ({ missing, episodes: count }));
}

function groupByWanted(episodes: readonly Classed[]): StageReport['byWanted'] {
  const groups = new Map<number, Classed[]>();
  for (const episode of episodes) {
    const { wanted } = checkboxDetails(episode.outcome);
    groups.set(wanted, [...(groups.get(wanted) ?? []), episode]);
  }
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([wanted, group]) => ({
      wanted,
      valid: group.length,
      exact: countSuccesses(group) / group.length,
      failures: countFailures(group),
    }));
}

type CompareOptions = { readonly seed: number; readonly resamples: number };

function compare(a: EvaluatedStage, b: EvaluatedStage, { seed, resamples }: CompareOptions): Comparison {
  const [resultsA, resultsB] = [resultsByTask(a), resultsByTask(b)];
  const tasks = new Set([...resultsA.keys(), ...resultsB.keys()]);
  const differences = [...tasks].flatMap((id) => {
    const [before, after] = [resultsA.get(id), resultsB.get(id)];
    return before === undefined || after === undefined ? [] : [Number(after) - Number(before)];
  });
  const n = differences.length;
  const gained = differences.filter((difference) => difference > 0).length;
  const lost = differences.filter((difference) => difference < 0).length;
  const bootstrap = n === 0 ? undefined : pairedBootstrap(differences, { seed, resamples });
  const { exactP, midP } = mcNemar(gained, lost);
  const discordance = n === 0 ? 0 : (gained + lost) / n;
  return {
    a: a.name,
    b: b.name,
    n,
    dropped: tasks.size - n,
    gained,
    lost,
    difference: bootstrap?.mean ?? null,
    bootstrapCI: bootstrap === undefined || bootstrap.degenerate ? null : [...bootstrap.interval],
    mcnemarP: exactP,
    mcnemarMidP: midP,
    hoeffdingHalfWidth: n === 0 ? null : hoeffdingHalfWidth({ range: 2, n }),
    detectable: discordance === 0 ? null : (minimumDetectableDifference({ n, discordance }) ?? null),
  };
}

/** Success by task; undefined where the episode was invalid. */
function resultsByTask({ name, trajectories }: EvaluatedStage): Map<string, boolean | undefined> {
  const results = new Map<string, boolean | undefined>();
  for (const { task, outcome } of trajectories) {
    if (results.has(task.id))
      throw new RangeError(`stage ${name} has two episodes of ${task.id}; comparisons need one each`);
    results.set(task.id, outcome.kind === 'finished' ? outcome.success : undefined);
  }
  return results;
}
