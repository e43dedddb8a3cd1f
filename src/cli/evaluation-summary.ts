// An evaluation as people read it: the headline with the interval to quote, what broke and what that could change, and one
// line a task.

import type { Evaluation, EvaluationFigures, EvaluationSummary } from '../experiments/index.ts';
import { compact, duration, percent, percentRange } from '../util/index.ts';
import { textTable } from './text-table.ts';

const MOST_TASKS = 40;

export function evaluationSummary(evaluation: Evaluation, file: string): string {
  const { model, environment, reward, summary, byTask, judge } = evaluation;
  const { name, version, split } = environment;
  return [
    '',
    `${model} on ${name} ${version}${split === 'all' ? '' : `, ${split} tasks`}; success by ${reward}`,
    `  ${headline(summary)}`,
    ...passLine(summary),
    ...invalidLines(summary),
    `  ${spent(summary)}`,
    ...(judge === null
      ? []
      : [
          `  judging: ${judge.calls} calls, ${tokens(judge.promptTokens, judge.completionTokens)}, ${money(judge.cost)}`,
        ]),
    ...(byTask.length > 1 ? ['', taskTable(byTask)] : []),
    '',
    `Evaluation: ${file}`,
  ].join('\n');
}

function headline({ success, successes, valid, wilson, clustered, tasks }: EvaluationSummary): string {
  if (success === null) return 'none of the episodes came to an end: there is no figure';
  const of = `${successes} of ${valid} episodes${tasks > 1 ? ` of ${tasks} tasks` : ''}`;
  if (clustered === null) return `success ${percent(success)} (95 % interval ${percentRange(wilson)}), ${of}`;
  const { unit, clusters, interval, method } = clustered;
  const few = method === 'cluster bootstrap' && clusters < 20 ? `; with so few ${unit}s rather too narrow` : '';
  return (
    `success ${percent(success)} (95 % interval ${percentRange(interval)}, over ${clusters} ${unit}s${few}), ${of}\n` +
    `  if all episodes were independent: ${percentRange(wilson)}`
  );
}

function passLine({ passAtK }: EvaluationSummary): readonly string[] {
  if (passAtK.length < 2) return [];
  return [`  ${passAtK.map(({ k, pass }) => `pass@${k} ${percent(pass)}`).join(', ')}`];
}

function invalidLines({ invalid, episodes, failures, bounds }: EvaluationSummary): readonly string[] {
  if (invalid === 0) return [];
  const list = Object.entries(failures).map(([name, count]) => `${name} ${count} times`);
  return [
    `  ${invalid} of ${episodes} episodes broke off and count neither way: ${list.join(', ')}`,
    `  were they all failures, or all successes: ${percentRange(bounds)}`,
  ];
}

function spent({
  actionsMean,
  promptTokens,
  completionTokens,
  cost,
  wallSeconds,
  secondsMean,
}: EvaluationSummary): string {
  return [
    ...(actionsMean === null ? [] : [`${actionsMean.toFixed(2)} actions an episode`]),
    tokens(promptTokens, completionTokens),
    money(cost),
    ...(wallSeconds === null ? [] : [`${duration(wallSeconds)} in all`]),
    ...(secondsMean === null ? [] : [`${compact(secondsMean)} s an episode`]),
  ].join(', ');
}

function tokens(prompt: number | null, completion: number | null): string {
  if (prompt === null || completion === null) return 'tokens not known';
  return `${compact(prompt)} tokens in, ${compact(completion)} out`;
}

function money(cost: number | null): string {
  return cost === null ? 'cost not known' : `$${cost.toFixed(4)}`;
}

/** The worst ones where there are many: those are what to look at. */
function taskTable(tasks: readonly (EvaluationFigures & { readonly task: string })[]): string {
  const sorted = [...tasks].sort((a, b) => (a.success ?? -1) - (b.success ?? -1));
  const shown = tasks.length > MOST_TASKS ? sorted.slice(0, MOST_TASKS) : tasks;
  const rows = shown.map(({ task, success, wilson, valid, successes, invalid, actionsMean }) => [
    task,
    success === null ? '-' : percent(success),
    valid === 0 ? '-' : percentRange(wilson),
    `${successes}/${valid}`,
    invalid === 0 ? '' : String(invalid),
    actionsMean === null ? '-' : actionsMean.toFixed(1),
  ]);
  const table = textTable([['task', 'success', '95 % interval', 'episodes', 'invalid', 'actions'], ...rows]);
  if (shown.length === tasks.length) return table;
  return `${table}\n(the ${MOST_TASKS} of ${tasks.length} tasks with the least success; all are in the file)`;
}
