// `tabwright tasks validate`: what is in a file of tasks, and everything that is wrong with it, row by row.

import { z } from 'zod';
import { TabwrightError, type JsonObject } from '../../core/index.ts';
import {
  countsOf,
  describeProblem,
  findSites,
  needsOf,
  placeholdersOf,
  readTaskFile,
  unsupportedOf,
  type TaskCounts,
  type TaskFile,
  type Unsupported,
} from '../../envs/index.ts';
import type { CommandSpec } from '../run-command.ts';
import { listOf, readingOptions, TASK_FILE_OPERAND, taskFileFlags } from '../task-file-flags.ts';
import { openRows } from '../task-source.ts';

const validateSchema = z.strictObject({
  ...taskFileFlags,
  site: z.string().min(1).optional().describe('addresses for placeholders: shopping=http://…,gitlab=http://…'),
});

export const tasksValidate: CommandSpec<typeof validateSchema> = {
  name: 'validate',
  operands: TASK_FILE_OPERAND,
  summary: 'What is in a file of tasks, and everything that is wrong with it; exit code 1 where anything is.',
  examples: ['tasks validate tasks.jsonl', 'tasks validate test.raw.json --site shopping=http://127.0.0.1:7770'],
  schema: validateSchema,
  flags: [],
  async action({ config, operands: [source], signal, print }) {
    const rows = await openRows(source, { signal, environment: process.env });
    const file = readTaskFile(rows, await readingOptions(config));
    const tasks = file.tasks.map(({ task }) => task);
    const placeholders = placeholdersOf(tasks);
    const sites = findSites(placeholders, { given: listOf(config.site), environment: process.env });
    const counts = countsOf(tasks);
    const needs = needsOf(tasks);
    const unsupported = unsupportedOf(tasks);
    print(
      describeFile(file, { counts, needs, unsupported, missing: placeholders.filter((name) => !sites.has(name)) }),
      {
        file: file.name,
        format: file.format,
        rows: file.rows,
        tasks: tasks.length,
        ...counts,
        needs,
        placeholders: Object.fromEntries(placeholders.map((name) => [name, sites.get(name) ?? null])),
        unsupported: unsupported.map(({ evaluator, ids }) => ({ evaluator, tasks: ids.length, ids })),
        problems: file.problems.map((problem) => ({ ...problem })),
      },
    );
    const wrong = file.problems.length + unsupported.length;
    if (wrong === 0) return;
    throw new TabwrightError(
      'env',
      `${file.name} has ${file.problems.length} faults and ${unsupported.length} checks that are not supported.`,
      {
        code: 'bad-task-file',
        details: { faults: file.problems.length, unsupported: unsupported.map(({ evaluator }) => evaluator) },
      },
    );
  },
};

const MOST_SITES = 12;

/** What tasks need before they can be played, and which flag brings it in. */
const NEEDS: Readonly<Record<string, string>> = {
  login: 'somebody who is signed in (--storage-state)',
  reset: 'sites in their first state (--before, --before-each)',
  judge: 'a judge, or may (--judge-model)',
  setup: 'a site that is set up, which the host does',
  images: 'pictures, which no model is shown',
  geolocation: 'a place, which browsers are not given',
  tabs: 'several tabs, of which the first is opened',
};

function needLines(needs: JsonObject): readonly string[] {
  return Object.entries(NEEDS).flatMap(([name, what]) => {
    const count = Number(needs[name] ?? 0);
    return count > 0 ? [`${count} need ${what}`] : [];
  });
}

function describeFile(
  file: TaskFile,
  {
    counts,
    needs,
    unsupported,
    missing,
  }: { counts: TaskCounts; needs: JsonObject; unsupported: readonly Unsupported[]; missing: readonly string[] },
): string {
  const line = (title: string, values: JsonObject): readonly string[] => {
    const entries = Object.entries(values);
    if (entries.length === 0) return [];
    const shown = entries
      .slice(0, MOST_SITES)
      .map(([name, count]) => `${name} ${JSON.stringify(count)}`)
      .join(', ');
    return [`${title}: ${shown}${entries.length > MOST_SITES ? `, and ${entries.length - MOST_SITES} more` : ''}`];
  };
  return [
    `${file.name}: ${file.rows} rows of ${file.format}, ${file.tasks.length} tasks`,
    ...line('sites', counts.sites),
    ...line('checks', counts.checks),
    ...line('splits', counts.splits),
    ...needLines(needs),
    ...missing.map((name) => `address needed: __${name}__, by --site ${name.toLowerCase()}=http://… or WA_${name}`),
    ...unsupported.map(
      ({ evaluator, reason, ids }) =>
        `not supported: ${evaluator} (${reason}); tasks ${ids.slice(0, 8).join(', ')}${ids.length > 8 ? ` and ${ids.length - 8} more` : ''}`,
    ),
    ...file.problems.map(
      (problem) => `${problem.where}${problem.id === undefined ? '' : ` (${problem.id})`}: ${describeProblem(problem)}`,
    ),
  ].join('\n');
}
