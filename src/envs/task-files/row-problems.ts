// What is wrong with a row, told so that it can be put right: which field, which value, what was expected.

import type { z } from 'zod';
import type { JsonValue } from '../../core/index.ts';

export type FieldProblem = {
  /** Dotted path within the row; empty for the row as a whole. */
  readonly field: string;
  /** The value there as JSON, cut; empty where there is none. */
  readonly value: string;
  readonly problem: string;
};

const SHOWN = 80;

export function problemsOf(error: z.ZodError, row: JsonValue): readonly FieldProblem[] {
  return error.issues.map((issue) => {
    const path = issue.path.map(String);
    const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined | null)?.[key], row);
    return { field: path.join('.'), value: showValue(value), problem: issue.message };
  });
}

export function showValue(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return '';
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}

export function describeProblem({ field, value, problem }: FieldProblem): string {
  return [field === '' ? 'the row' : field, ...(value === '' ? [] : [`= ${value}`])].join(' ') + `: ${problem}`;
}
