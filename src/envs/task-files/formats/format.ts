// What a format of task files is to the loader: how its rows are told from others, and how one becomes a task.

import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../core/index.ts';
import type { LoadedTask, TaskFormat } from '../loaded-task.ts';
import { problemsOf, type FieldProblem } from '../row-problems.ts';

export type ReadRow = { readonly task: LoadedTask } | { readonly problems: readonly FieldProblem[] };

export type RowContext = {
  /** Of a file beside the tasks', where the format has one; by its own keys. */
  readonly references: JsonObject | undefined;
};

export type Format = {
  readonly name: TaskFormat;
  /** By keys that only its rows have. */
  readonly claims: (row: JsonObject) => boolean;
  readonly read: (row: JsonValue, context: RowContext) => ReadRow;
};

/** A reader of rows that fit `schema`: strict about what is named there, lenient about other keys. */
export function rowReader<T extends z.ZodType>(
  schema: T,
  build: (row: z.output<T>, context: RowContext) => LoadedTask,
): Format['read'] {
  return (row, context) => {
    const parsed = schema.safeParse(row);
    return parsed.success ? { task: build(parsed.data, context) } : { problems: problemsOf(parsed.error, row) };
  };
}

/** An address, or a placeholder and what follows it. */
export const address = z
  .string()
  .refine(
    (text) => /^__[A-Z0-9_]+?__(?:[/?#].*)?$/su.test(text) || isHttp(text),
    'must be an http(s) address or __SITE__',
  );

export const filled = z.string().refine((text) => text.trim() !== '', 'must not be empty');

/** Ids come as numbers and as text. */
export const rowId = z.union([filled, z.number()]).transform(String);

function isHttp(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:');
}

/** For counts and groups: the host, or the placeholder's name. */
export function siteOf(url: string): string {
  return /^__([A-Z0-9_]+?)__/u.exec(url)?.[1].toLowerCase() ?? (URL.canParse(url) ? new URL(url).hostname : url);
}
