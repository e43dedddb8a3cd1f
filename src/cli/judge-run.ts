// Judges the episodes of a finished run anew: every one with an end, so many at a time, against the label that the run has
// for it. The run is not changed.

import type { AnyTrajectory, JsonObject } from '../core/index.ts';
import { judgeTrajectoryInput } from '../envs/index.ts';
import { describeJudgeFigures, figuresJson, judgeFigures, type JudgedRow } from '../experiments/index.ts';
import type { Judge, Judgement, RubricGroup } from '../judges/index.ts';
import type { ReadonlyRunFolder } from '../store/index.ts';
import { createSemaphore } from '../util/index.ts';

export type JudgeRunOptions = {
  readonly run: ReadonlyRunFolder;
  readonly judge: Judge;
  /** Names of its files of episodes. Default all. */
  readonly rollouts?: readonly string[];
  /** Episodes at a time. Default 8. */
  readonly parallel?: number;
  readonly criteria?: string | undefined;
  /** By task id. */
  readonly rubrics?: ReadonlyMap<string, readonly RubricGroup[]>;
  readonly onJudged?: (progress: JudgeProgress) => void;
  readonly signal: AbortSignal;
};

/** Episodes done so far, those skipped among them, of all, and what was said of them. */
export type JudgeProgress = {
  readonly done: number;
  readonly total: number;
  readonly successes: number;
  readonly invalid: number;
};

export type JudgedEpisode = {
  /** Name of the file of episodes. */
  readonly rollouts: string;
  readonly task: string;
  readonly member: number;
  /** Success by the run's own verifier; null where it had none. */
  readonly label: boolean | null;
  readonly judgement: Judgement;
};

export type JudgedRun = {
  readonly episodes: readonly JudgedEpisode[];
  /** Episodes without an end to judge, or without what a judge goes by. */
  readonly skipped: number;
};

export async function judgeRun(options: JudgeRunOptions): Promise<JudgedRun> {
  const { run, judge, criteria, rubrics, onJudged, signal, parallel = 8 } = options;
  const names = options.rollouts ?? (await run.listRollouts());
  const all: (readonly [string, AnyTrajectory])[] = [];
  for (const name of names) all.push(...(await run.readAnyRollouts(name)).map((one) => [name, one] as const));
  const places = createSemaphore(parallel);
  const progress = { done: 0, total: all.length, successes: 0, invalid: 0 };
  const one = async ([rollouts, trajectory]: (typeof all)[number]): Promise<JudgedEpisode | undefined> => {
    const { task, member, outcome } = trajectory;
    const input = await judgeTrajectoryInput(trajectory, {
      readPicture: (name) => run.readScreenshot(name),
      criteria,
      rubric: rubrics?.get(task.id),
    });
    const judgement = input === undefined ? undefined : await judge.judge(input, { signal });
    progress.done++;
    if (judgement?.verdict === 'success') progress.successes++;
    if (judgement?.verdict === 'invalid') progress.invalid++;
    onJudged?.({ ...progress });
    if (judgement === undefined) return undefined;
    const label = outcome.kind === 'finished' ? outcome.success : null;
    return { rollouts, task: task.id, member, label, judgement };
  };
  const judged = await Promise.all(all.map((episode) => places.run(() => one(episode), signal)));
  const episodes = judged.filter((episode) => episode !== undefined);
  return { episodes, skipped: all.length - episodes.length };
}

/** Figures of all labelled episodes, and of each file of them. */
export function judgedRunJson({ episodes, skipped }: JudgedRun, judge: Judge): JsonObject {
  const { id, kind, model, promptHash } = judge;
  return {
    format: 'tabwright-judged-run',
    version: 1,
    judge: { id, kind, model, promptHash },
    spent: { ...judge.spent() },
    skipped,
    unlabelled: episodes.filter(({ label }) => label === null).length,
    figures: figuresJson(judgeFigures(rowsOf(episodes))),
    rollouts: Object.fromEntries(groups(episodes).map(([name, rows]) => [name, figuresJson(judgeFigures(rows))])),
    episodes: episodes.map(({ judgement: { spending, details, ...said }, ...episode }) => ({
      ...episode,
      ...said,
      spending: { ...spending },
      details,
    })),
  };
}

export function describeJudgedRun({ episodes, skipped }: JudgedRun, judge: Judge): string {
  const { calls, promptTokens, completionTokens, cost } = judge.spent();
  const codes = new Map<string, number>();
  for (const { judgement } of episodes) {
    if (judgement.verdict === 'invalid') codes.set(judgement.code, (codes.get(judgement.code) ?? 0) + 1);
  }
  const invalid = [...codes].map(([code, count]) => `${count} × ${code}`).join(', ');
  const unlabelled = episodes.filter(({ label }) => label === null).length;
  return [
    `Judge ${judge.id}: ${episodes.length} episodes${unlabelled > 0 ? `, ${unlabelled} of them without a label` : ''}${skipped > 0 ? `, ${skipped} skipped` : ''}.`,
    ...(invalid === '' ? [] : [`Not judged: ${invalid}`]),
    `${calls} calls, ${promptTokens} + ${completionTokens} tokens, ${cost === null ? 'cost not known' : `$${cost.toFixed(4)}`}`,
    '',
    describeJudgeFigures(judgeFigures(rowsOf(episodes))),
    '',
    ...groups(episodes).map(([name, rows]) => describeGroup(name, rows)),
  ].join('\n');
}

function describeGroup(name: string, rows: readonly JudgedRow[]): string {
  const said = (label: boolean): string => {
    const of = rows.filter((row) => row.label === label);
    return `${of.filter(({ verdict }) => verdict === 'success').length} of ${of.length}`;
  };
  return `${name.padEnd(24)} judged a success: ${said(true)} successes, ${said(false)} failures`;
}

function rowsOf(episodes: readonly JudgedEpisode[]): readonly JudgedRow[] {
  return episodes.flatMap(({ label, judgement: { verdict } }) => (label === null ? [] : [{ label, verdict }]));
}

function groups(episodes: readonly JudgedEpisode[]): readonly (readonly [string, readonly JudgedRow[]])[] {
  const names = [...new Set(episodes.map(({ rollouts }) => rollouts))];
  return names.map((name) => [name, rowsOf(episodes.filter(({ rollouts }) => rollouts === name))] as const);
}
