// Append-only files of one JSON value a line. A line counts once its newline is there: a crash in the middle of
// an append leaves a torn tail, which readers pass over and `repairTail` cuts off. Any other damage is refused.

import { closeSync, fstatSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import { readFile, truncate } from 'node:fs/promises';
import type { z } from 'zod';
import type { JsonValue } from '../core/index.ts';
import { systemCode, toStoreError, withStoreErrors } from './store-error.ts';
import { corrupt, parseWith } from './versioned.ts';

const NEWLINE = 0x0a;

/**
 * Adds one line. Synchronous, so that lines stand in the order of the calls and progress listeners can use it; a
 * line is some hundred bytes. When it fails the file is as it was before.
 */
export function appendJsonLine(path: string, value: unknown): void {
  try {
    const file = openSync(path, 'a');
    try {
      const sizeBefore = fstatSync(file).size;
      try {
        writeFileSync(file, `${JSON.stringify(value)}\n`);
      } catch (error) {
        ftruncateSync(file, sizeBefore);
        throw error;
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw toStoreError({ doing: 'write', path }, error);
  }
}

/** All complete lines, checked by `schema`; none when the file does not exist. */
export async function readJsonLines<T>(path: string, schema: z.ZodType<T>): Promise<T[]> {
  const text = await readIfPresent(path);
  if (text === undefined) return [];
  const lines = text.toString('utf8').split('\n');
  lines.pop(); // What follows the last newline: empty, or torn.
  return lines.map((line, i) => parseWith(schema, parseLine(line, `${path}:${i + 1}`), `${path}:${i + 1}`));
}

/** Cuts a torn tail off, so that the next append starts a line of its own. */
export async function repairTail(path: string): Promise<void> {
  const bytes = await readIfPresent(path);
  if (bytes === undefined) return;
  const complete = bytes.lastIndexOf(NEWLINE) + 1;
  if (complete === bytes.length) return;
  await withStoreErrors({ doing: 'write', path }, () => truncate(path, complete));
}

export function parseLine(line: string, where: string): JsonValue {
  try {
    return JSON.parse(line) as JsonValue;
  } catch {
    throw corrupt(where, `not JSON: ${JSON.stringify(line.slice(0, 60))}`);
  }
}

/** The bytes of a file, or undefined when there is none. */
export async function readIfPresent(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw toStoreError({ doing: 'read', path }, error);
  }
}
