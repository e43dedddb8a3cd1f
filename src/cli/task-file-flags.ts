// What the commands on files of tasks share: how the file is to be read, and lists in a flag.

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { TabwrightError, type JsonObject } from '../core/index.ts';
import { TASK_FORMATS, type readTaskFile, type TaskFile } from '../envs/index.ts';

/** Settings of every command that reads a file of tasks. */
export const taskFileFlags = {
  format: z.enum(TASK_FORMATS).optional().describe('how its rows are to be read (default: what they look like)'),
  references: z.string().min(1).optional().describe("WebVoyager: the file with its sites' reference answers"),
};

export const TASK_FILE_OPERAND = {
  name: '<file>',
  description: 'file or folder of tasks, or hf:<owner>/<dataset>/<path>',
};

/** Of `readTaskFile`. */
export async function readingOptions({
  format,
  references,
}: {
  format?: TaskFile['format'];
  references?: string;
}): Promise<Parameters<typeof readTaskFile>[1]> {
  return {
    ...(format === undefined ? {} : { format }),
    ...(references === undefined ? {} : { references: await referencesOf(references) }),
  };
}

async function referencesOf(path: string): Promise<JsonObject> {
  try {
    return z.record(z.string(), z.json()).parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw new TabwrightError('config', `${path} is no JSON object of reference answers by site.`, {
      code: 'bad-references',
      details: { path },
      cause,
    });
  }
}

export function listOf(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').filter((part) => part !== '');
}
