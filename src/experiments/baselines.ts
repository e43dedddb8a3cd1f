// Evaluations as the page of baselines: what policies without a model and models reach on each environment, with the
// interval to quote and what broke. Pure: the same evaluations give the same text, in whatever order they come.

import { createHash } from 'node:crypto';
import { percent, percentRange } from '../util/index.ts';
import { groupBy } from './evaluation.ts';
import type { Evaluation, EvaluationSummary } from './evaluation-schema.ts';

/** For scale, before any model. */
const WITHOUT_MODEL = ['scripted:oracle', 'scripted:noop', 'scripted:blind'];

export function baselinePage(evaluations: readonly Evaluation[]): string {
  const newest = [...newestOf(evaluations)].sort(byPolicy);
  const sections = sectionsOf(newest)
    .sort(([a], [b]) => compareText(a, b))
    .map(([title, own]) => `## ${title}\n\n${baselineTable(own)}\n`);
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

/** In the order in which they come: one table where all are of the same tasks, else one for each set, which it names. */
export function baselineTables(evaluations: readonly Evaluation[]): string {
  const sections = sectionsOf(evaluations);
  if (sections.length === 1) return baselineTable(evaluations);
  return sections.map(([title, own]) => `## ${title}\n\n${baselineTable(own)}`).join('\n\n');
}

/** Evaluations whose rows may stand in one table, under what they have in common; the instances only where others have not. */
function sectionsOf(evaluations: readonly Evaluation[]): (readonly [title: string, own: readonly Evaluation[]])[] {
  const groups = groupBy(evaluations, (one) => JSON.stringify([titleOf(one), instancesOf(one)]));
  const titles = groupBy(
    [...groups.values()].map(([one]) => titleOf(one)),
    (title) => title,
  );
  return [...groups.values()].map((own) => {
    const title = titleOf(own[0]);
    const isShared = titles.get(title)!.length > 1;
    return [isShared ? `${title}; on ${instancesOf(own[0])}` : title, own];
  });
}

const INTRODUCTION = `# Baselines

Exact success of policies on each environment. The oracle knows the answer and acts through the agent's own tools, no-op does
nothing, blind acts without looking: a model is worth what it reaches between the last two and the first.

- The interval is of 95 %. It is over whole groups of tasks, tasks or instances, as the table says, because episodes of one
  depend on each other; "episodes" is Wilson's, where each counts by itself.
- Invalid episodes broke off for reasons that are not the policy's. They are in no mean; "if all failed, if all succeeded" says
  what they could change.
- Rows of one table are of the same tasks, judged alike. Nothing else compares.
`;

/** Rows of one environment, judged alike. */
export function baselineTable(evaluations: readonly Evaluation[]): string {
  const head = [
    'policy',
    'renderer',
    'success',
    '95 % interval',
    'over',
    'episodes',
    'invalid',
    'if all failed, if all succeeded',
    'date',
  ];
  const temperatures = new Set(evaluations.map(({ sampling }) => sampling.temperature));
  const rows = evaluations.map(({ model, renderer, summary, date, sampling }) => [
    `\`${model.replaceAll('|', '\\|')}\`${temperatures.size > 1 ? ` at ${sampling.temperature}` : ''}`,
    renderer ?? '-',
    summary.success === null ? '-' : percent(summary.success),
    ...intervalCells(summary),
    sampling.samples > 1 ? `${summary.episodes} (${sampling.samples} a task)` : String(summary.episodes),
    String(summary.invalid),
    summary.invalid === 0 ? '-' : percentRange(summary.bounds),
    date.slice(0, 10),
  ]);
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return lines.join('\n');
}

/** The interval to quote, and what it is over. */
function intervalCells({ clustered, wilson, valid }: EvaluationSummary): readonly [string, string] {
  if (valid === 0) return ['-', '-'];
  if (clustered === null) return [percentRange(wilson), `${valid} episodes`];
  return [percentRange(clustered.interval), `${clustered.clusters} ${clustered.unit}s`];
}

function titleOf({ environment: { name, version, split }, reward }: Evaluation): string {
  const tasks = split === 'all' ? '' : `, ${split} tasks`;
  return `${name} ${version}${tasks}; success by ${reward}`;
}

/** How many, and a hash of which: rows on other ones belong into another table. */
function instancesOf({ episodes }: Evaluation): string {
  const names = [...new Set(episodes.map(({ task, seed }) => JSON.stringify([task, seed])))].sort();
  const hash = createHash('sha256').update(names.join('\n')).digest('hex').slice(0, 8);
  return `${names.length} instances (${hash})`;
}

/** Of evaluations of the same policy on the same instances, drawn alike, the last one counts. */
function newestOf(evaluations: readonly Evaluation[]): Iterable<Evaluation> {
  const newest = new Map<string, Evaluation>();
  for (const evaluation of evaluations) {
    const { model, renderer, sampling } = evaluation;
    const { temperature, samples } = sampling;
    const key = JSON.stringify([titleOf(evaluation), instancesOf(evaluation), model, renderer, temperature, samples]);
    const other = newest.get(key);
    if (other === undefined || other.date < evaluation.date) newest.set(key, evaluation);
  }
  return newest.values();
}

function byPolicy(a: Evaluation, b: Evaluation): number {
  const rank = ({ model }: Evaluation): number => {
    const at = WITHOUT_MODEL.indexOf(model);
    return at === -1 ? WITHOUT_MODEL.length : at;
  };
  return (
    rank(a) - rank(b) ||
    compareText(a.model, b.model) ||
    compareText(a.renderer ?? '', b.renderer ?? '') ||
    a.sampling.temperature - b.sampling.temperature ||
    a.sampling.samples - b.sampling.samples
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
