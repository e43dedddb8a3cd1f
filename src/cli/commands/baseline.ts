// `tabwright baseline <models...>`: policies on the same tasks as one table, the first of them the one in use, and whether
// any of the others is worth changing to. An operand that is a file is an evaluation that was made before.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { asJson, TabwrightError } from '../../core/index.ts';
import {
  baselineTable,
  describeSwitching,
  readEvaluation,
  switching,
  type Evaluation,
} from '../../experiments/index.ts';
import { makeFolder } from '../../util/index.ts';
import { environmentSettings } from '../environment-settings.ts';
import type { CommandSpec } from '../run-command.ts';
import { writeOutput } from '../write-output.ts';

const schema = z.strictObject({
  ...environmentSettings,
  split: z.enum(['train', 'test', 'all']).optional().describe('tasks that are played (default: as `tabwright eval`)'),
  seed: z.int().nonnegative().default(1).describe('makes the command reproducible'),
  episodes: z.int().positive().optional().describe('episodes of each policy (default: as `tabwright eval`)'),
  margin: z.number().min(0).max(1).default(0).describe('share of episodes that a change has to be worth at least'),
  repeated: z
    .string()
    .min(1)
    .optional()
    .describe('evaluation of the first policy once more: how far it differs from itself'),
  folder: z
    .string()
    .min(1)
    .default('runs/baseline')
    .describe('where the evaluations of this command go; those that are there are not played again'),
  table: z.string().min(1).optional().describe('write the table there, as Markdown'),
});

type Settings = z.output<typeof schema>;

/** Settings of this command alone; every other one is `eval`'s too. */
const OWN: ReadonlySet<string> = new Set(['margin', 'repeated', 'folder', 'table']);

export const baseline: CommandSpec<typeof schema> = {
  name: 'baseline',
  summary: 'Compare policies on the same tasks in one table, and say whether a challenger is worth changing to.',
  examples: [
    'baseline scripted:oracle nano runs/train --env click-checkboxes --table baselines.md',
    'baseline before.json after.json --repeated again.json --margin 0.02',
  ],
  schema,
  operands: {
    name: '<models...>',
    description: 'models as `tabwright eval` takes them, or files of evaluations; the first is in use',
  },
  flags: ['baseUrl'],
  async action({ config, given, operands, signal, print }) {
    const evaluations: Evaluation[] = [];
    for (const [i, operand] of operands.entries()) {
      const file = isFile(operand) ? operand : await evaluate({ model: operand, at: i, config, given, signal });
      evaluations.push(await readEvaluation(file));
    }
    const repeated = config.repeated === undefined ? {} : { repeated: await readEvaluation(config.repeated) };
    const [incumbent, ...challengers] = evaluations;
    const { margin, seed } = config;
    const verdicts = challengers.map((challenger) => switching({ incumbent, challenger, ...repeated, margin, seed }));
    const table = baselineTable(evaluations);
    if (config.table !== undefined) await writeOutput(config.table, `${table}\n`);
    print([table, '', ...verdicts.map(describeSwitching)].join('\n'), {
      table,
      switching: verdicts.map((verdict) => asJson(verdict)),
    });
  },
};

function isFile(operand: string): boolean {
  return operand.endsWith('.json') && !operand.includes(':');
}

type EvaluateOptions = {
  readonly model: string;
  readonly at: number;
  readonly config: Settings;
  readonly given: { readonly baseUrl?: string };
  readonly signal: AbortSignal;
};

/** By `tabwright eval`, as a person would; one that was begun is gone on with. Gives the file of the evaluation. */
async function evaluate({ model, at, config, given, signal }: EvaluateOptions): Promise<string> {
  await makeFolder(config.folder);
  const name = `${at}-${model.replace(/[^A-Za-z0-9.-]+/g, '-')}`;
  const output = join(config.folder, `${name}.json`);
  const flags = Object.entries(config).flatMap(([key, value]) => {
    if (OWN.has(key) || value === undefined || value === false) return [];
    const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? [flag] : [flag, String(value)];
  });
  const out = join(config.folder, name);
  const resume = existsSync(join(out, 'config.json')) ? ['--resume'] : [];
  const args = ['eval', '--model', model, ...flags, '--out', out, ...resume, '--output', output];
  if (given.baseUrl !== undefined && model.startsWith('tinker:')) args.push('--base-url', given.baseUrl);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1], ...args, '--quiet'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    signal,
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  signal.throwIfAborted();
  if (code === 0) return output;
  throw new TabwrightError(
    'config',
    `${model} could not be evaluated: tabwright ${args.join(' ')} ended with ${code}.`,
    {
      code: 'not-evaluated',
      details: { model, exit: code },
    },
  );
}
