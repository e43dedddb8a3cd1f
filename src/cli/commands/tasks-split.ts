// `tabwright tasks split`: a division of a file's tasks into train and test that keeps the two sides apart.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TabwrightError, type JsonObject } from '../../core/index.ts';
import {
  describeProblem,
  readTaskFile,
  splitTasks,
  type FileRows,
  type TaskFile,
  type TaskSplit,
} from '../../envs/index.ts';
import { makeFolder, percent, writeFileAtomic } from '../../util/index.ts';
import type { CommandSpec } from '../run-command.ts';
import { listOf, readingOptions, TASK_FILE_OPERAND, taskFileFlags } from '../task-file-flags.ts';
import { openRows } from '../task-source.ts';

const splitSchema = z.strictObject({
  ...taskFileFlags,
  outDir: z.string().min(1).describe('folder for train, test and the summary; must not hold them yet'),
  testShare: z.number().gt(0).lt(1).default(0.2).describe('share of the tasks that is for evaluation'),
  seed: z.int().nonnegative().default(0).describe('another seed, another division'),
  by: z
    .enum(['domain', 'group'])
    .default('domain')
    .describe('what is never divided: whole websites, or near tasks only'),
  same: z.string().min(1).optional().describe('domains that are one site: vk.com=vkontakte.ru,gmail.com=google.com'),
});

export const tasksSplit: CommandSpec<typeof splitSchema> = {
  name: 'split',
  operands: TASK_FILE_OPERAND,
  summary: 'Divides tasks into train and test by whole websites and groups of near tasks, never by row.',
  examples: [
    'tasks split tasks.jsonl --out-dir split',
    'tasks split tasks.jsonl --out-dir split --test-share 0.3 --seed 1',
  ],
  schema: splitSchema,
  flags: [],
  async action({ config, operands: [source], signal, print }) {
    const rows = await openRows(source, { signal, environment: process.env });
    const file = readTaskFile(rows, await readingOptions(config));
    if (file.problems.length > 0) {
      const [first] = file.problems;
      throw new TabwrightError(
        'config',
        `${file.name} has ${file.problems.length} faults, the first in ${first.where}: ${describeProblem(first)}. See all with: tabwright tasks validate ${source}`,
        { code: 'bad-task-file', details: { faults: file.problems.length } },
      );
    }
    const tasks = file.tasks.map(({ task }) => task);
    const { testShare, seed, by } = config;
    const split = splitTasks(tasks, { testShare, seed, by, same: pairsOf(config.same) });
    const names = await writeSides(config.outDir, { rows, file, split });
    const summary = summaryOf(file, split, { testShare, seed, by, same: listOf(config.same) }, names);
    await writeFileAtomic(join(config.outDir, 'split.json'), `${JSON.stringify(summary, null, 2)}\n`);
    const { train, test } = split;
    const apart =
      by === 'domain'
        ? 'No website and no group of near tasks is on both sides.'
        : 'No group of near tasks is on both sides; websites may be.';
    print(
      `${train.length} tasks for training, ${test.length} (${percent(test.length / tasks.length)}) for evaluation, out of ${split.units} parts in ${config.outDir}. ${apart}`,
      summary,
    );
  },
};

function pairsOf(text: string | undefined): readonly (readonly [string, string])[] {
  return listOf(text).map((pair) => {
    const [one, other, ...rest] = pair.split('=');
    if (one !== '' && other !== undefined && other !== '' && rest.length === 0) return [one, other];
    throw new TabwrightError('config', `--same ${pair} is no pair: write one domain, =, and the other.`, {
      code: 'bad-pair',
    });
  });
}

/** In the format that the file is in: lines as lines, an array as an array; Parquet and folders become arrays. */
async function writeSides(
  folder: string,
  { rows, file, split }: { readonly rows: FileRows; readonly file: TaskFile; readonly split: TaskSplit },
): Promise<{ train: string; test: string }> {
  await makeFolder(folder);
  const lines = rows.container === 'jsonl';
  const names = { train: `train.${lines ? 'jsonl' : 'json'}`, test: `test.${lines ? 'jsonl' : 'json'}` };
  for (const name of Object.values(names)) await refuseExisting(join(folder, name));
  for (const side of ['train', 'test'] as const) {
    const values = split[side].map((i) => file.tasks[i].row.value);
    const text = lines
      ? values.map((value) => `${JSON.stringify(value)}\n`).join('')
      : `${JSON.stringify(values, null, 2)}\n`;
    await writeFileAtomic(join(folder, names[side]), text);
  }
  return names;
}

async function refuseExisting(path: string): Promise<void> {
  try {
    await readFile(path);
  } catch {
    return;
  }
  throw new TabwrightError('config', `There is a ${path} already: name another --out-dir, or delete it.`, {
    code: 'file-exists',
    details: { path },
  });
}

function summaryOf(
  file: TaskFile,
  split: TaskSplit,
  settings: { testShare: number; seed: number; by: 'domain' | 'group'; same: readonly string[] },
  names: { train: string; test: string },
): JsonObject {
  const side = (members: readonly number[], name: string): JsonObject => ({
    file: name,
    tasks: members.length,
    domains: [...new Set(members.map((i) => split.domains[i]))].sort(),
    groups: new Set(members.map((i) => split.groups[i])).size,
  });
  const shared = (names: readonly string[]): string[] => {
    const inTrain = new Set(split.train.map((i) => names[i]));
    return [...new Set(split.test.map((i) => names[i]))].filter((name) => inTrain.has(name)).sort();
  };
  return {
    version: 1,
    source: file.name,
    format: file.format,
    ...settings,
    units: split.units,
    largestUnit: split.largest,
    sharedDomains: shared(split.domains),
    sharedGroups: shared(split.groups),
    train: side(split.train, names.train),
    test: side(split.test, names.test),
  };
}
