// A file of tasks: which format it is in, its tasks, and everything that is wrong with it, row by row. Reading never
// stops at the first fault; who wants none calls `loadTasks`.

import { isJsonObject, TabwrightError, type JsonObject } from '../../core/index.ts';
import { agentAuthFormat } from './formats/agent-auth.ts';
import type { Format } from './formats/format.ts';
import { onlineMind2webFormat } from './formats/online-mind2web.ts';
import { realFormat } from './formats/real.ts';
import { tabwrightFormat } from './formats/tabwright.ts';
import { webarenaVerifiedFormat } from './formats/webarena-verified.ts';
import { webarenaFormat } from './formats/webarena.ts';
import { webgymFormat } from './formats/webgym.ts';
import { webvoyagerFormat } from './formats/webvoyager.ts';
import { TASK_FORMATS, type LoadedTask, type TaskFormat } from './loaded-task.ts';
import type { FileRow, FileRows } from './read-rows.ts';
import { describeProblem, type FieldProblem } from './row-problems.ts';

export type RowProblem = { readonly where: string; readonly id?: string } & FieldProblem;

export type TaskFile = {
  readonly name: string;
  readonly format: TaskFormat;
  /** Tasks that could be read, with the row that each came from. */
  readonly tasks: readonly { readonly task: LoadedTask; readonly row: Extract<FileRow, { readonly value: unknown }> }[];
  readonly rows: number;
  readonly problems: readonly RowProblem[];
};

export type ReadTaskFileOptions = {
  /** Default: whatever most rows look like. */
  readonly format?: TaskFormat;
  /** Of a file beside it, where the format has one (WebVoyager's reference answers). */
  readonly references?: JsonObject;
};

/** The more keys a format is told by, the earlier it is asked. */
const FORMATS: readonly Format[] = [
  webarenaVerifiedFormat,
  webarenaFormat,
  webvoyagerFormat,
  realFormat,
  webgymFormat,
  onlineMind2webFormat,
  agentAuthFormat,
  tabwrightFormat,
];

export function readTaskFile(file: FileRows, options: ReadTaskFileOptions = {}): TaskFile {
  const format = FORMATS.find(({ name }) => name === (options.format ?? detect(file)))!;
  const tasks: TaskFile['tasks'][number][] = [];
  const problems: RowProblem[] = [];
  const firstWith = new Map<string, string>();
  for (const row of file.rows) {
    const { where } = row;
    if ('unreadable' in row) {
      problems.push({ where, field: '', value: '', problem: row.unreadable });
      continue;
    }
    const read = format.read(row.value, { references: options.references });
    if ('problems' in read) {
      problems.push(...read.problems.map((problem) => ({ where, ...problem })));
      continue;
    }
    const { id } = read.task;
    const unfit = unfitNames(read.task);
    if (unfit.length > 0) {
      problems.push(...unfit.map((problem) => ({ where, id, ...problem })));
      continue;
    }
    const before = firstWith.get(id);
    if (before !== undefined) {
      problems.push({
        where,
        id,
        field: 'id',
        value: JSON.stringify(id),
        problem: `is the id of ${before} too; ids are unique`,
      });
      continue;
    }
    firstWith.set(id, where);
    tasks.push({ task: read.task, row });
  }
  return { name: file.name, format: format.name, tasks, rows: file.rows.length, problems };
}

/** Names go into folders, lines and environment variables: control characters end them there. */
function unfitNames({ id, sites, startUrls }: LoadedTask): readonly FieldProblem[] {
  const named = [['id', id], ...sites.map((site) => ['sites', site]), ...startUrls.map((url) => ['start', url])];
  return named
    .filter(([, text]) => /\p{Cc}/u.test(text))
    .map(([field, text]) => ({ field, value: JSON.stringify(text), problem: 'holds a control character' }));
}

/** The tasks of a file in which nothing is wrong. */
export function loadTasks(file: FileRows, options: ReadTaskFileOptions = {}): readonly LoadedTask[] {
  const { name, format, tasks, problems } = readTaskFile(file, options);
  if (problems.length === 0) return tasks.map(({ task }) => task);
  const shown = problems.slice(0, 3).map((problem) => `${problem.where}: ${describeProblem(problem)}`);
  const more = problems.length > 3 ? `; and ${problems.length - 3} more` : '';
  throw new TabwrightError(
    'config',
    `${name} (${format}) has ${problems.length} faults: ${shown.join('; ')}${more}. See all with: tabwright tasks validate`,
    { code: 'bad-task-file', details: { file: name, format, faults: problems.length, first: shown[0] } },
  );
}

function detect({ name, rows }: FileRows): TaskFormat {
  const objects = rows.flatMap((row) => ('value' in row && isJsonObject(row.value) ? [row.value] : []));
  const claims = FORMATS.map((format) => ({ format, count: objects.filter(format.claims).length }));
  const best = claims.reduce((a, b) => (b.count > a.count ? b : a));
  if (best.count > 0) return best.format.name;
  const keys = Object.keys(objects[0] ?? {}).slice(0, 10);
  throw new TabwrightError(
    'config',
    `${name} is in no known format: its first row has ${keys.length === 0 ? 'no keys' : `the keys ${keys.join(', ')}`}. ` +
      `Name one with --format (${TASK_FORMATS.join(', ')}), or write rows like {"id": "1", "url": "https://…", "instruction": "…"}.`,
    { code: 'unknown-format', details: { file: name, keys } },
  );
}
