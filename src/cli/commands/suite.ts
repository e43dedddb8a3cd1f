// `tabwright suite list` and `tabwright suite add miniwob`: which suites there are, and making one of other people's
// pages available on this machine.

import { z } from 'zod';
import { describeMiniwob, findMiniwobContent, keepMiniwobContent, type SuiteDescription } from '../../envs/index.ts';
import { percent } from '../../util/index.ts';
import { describeSuites } from '../environments.ts';
import type { CommandSpec } from '../run-command.ts';
import { textTable } from '../text-table.ts';

const listSchema = z.strictObject({});

export const suiteList: CommandSpec<typeof listSchema> = {
  name: 'list',
  summary: 'The suites of tasks: how many, how they are divided, what is reached without a model.',
  examples: ['suite list', 'suite list --json'],
  schema: listSchema,
  flags: [],
  action({ print }) {
    const suites = describeSuites();
    print(describe(suites), { suites: suites.map((suite) => ({ ...suite })) });
    return Promise.resolve();
  },
};

function describe(suites: readonly SuiteDescription[]): string {
  const figure = (value: number | null): string => (value === null ? '-' : percent(value));
  const rows = suites.map((suite) => [
    `${suite.name} ${suite.version}`,
    ...[suite.tasks, suite.train, suite.test].map(String),
    ...[suite.oracle, suite.noop, suite.blind].map(figure),
  ]);
  return textTable([['suite', 'tasks', 'train', 'test', 'oracle', 'no-op', 'blind'], ...rows]);
}

const addSchema = z.strictObject({
  from: z
    .string()
    .min(1)
    .optional()
    .describe('a wheel, a checkout or a folder with the pages (default: MINIWOB_DIR, then the Python package miniwob)'),
});

export const suiteAddMiniwob: CommandSpec<typeof addSchema> = {
  name: 'miniwob',
  summary: 'MiniWoB++ 1.1.0: find its pages, check them by their hash, keep a copy for later commands.',
  examples: ['suite add miniwob', 'suite add miniwob --from miniwob-1.1.0-py3-none-any.whl'],
  schema: addSchema,
  flags: [],
  async action({ config, signal, print }) {
    const content = await findMiniwobContent({ signal, ...(config.from === undefined ? {} : { from: config.from }) });
    const folder = await keepMiniwobContent(content);
    const { name, version, tasks } = describeMiniwob();
    print(
      `${name} ${version}: ${content.files.size} files from ${content.origin} are right and kept in ${folder}; ${tasks} tasks.`,
      {
        suite: name,
        version,
        files: content.files.size,
        origin: content.origin,
        folder,
      },
    );
  },
};
