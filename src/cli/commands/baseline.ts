// `tabwright baseline <models...>`: policies on the same tasks as one table, on other tasks as another, the first of them
// the one in use, and whether any of the others is worth changing to. An operand that is a file is an evaluation that was made before.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { asJson, TabwrightError } from '../../core/index.ts';
import {
  baselineTables,
  describeSwitching,
  readEvaluation,
  switching,
  type Evaluation,
} from '../../experiments/index.ts';
import { makeFolder } from '../../util/index.ts';
import { environmentSettings } from '../environment-settings.ts';
import { openRun, type CommandContext, type CommandSpec, type GlobalOptions } from '../run-command.ts';
import { writeOutput } from '../write-output.ts';
import { evalSchema, evaluate } from './eval.ts';

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

type Context = CommandContext<z.output<typeof schema>>;

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
  async action(context) {
    const { config, operands, print } = context;
    const evaluations: Evaluation[] = [];
    for (const [i, operand] of operands.entries()) {
      const file = isFile(operand) ? operand : await evaluateModel({ model: operand, at: i, context });
      evaluations.push(await readEvaluation(file));
    }
    const repeated = config.repeated === undefined ? {} : { repeated: await readEvaluation(config.repeated) };
    const [incumbent, ...challengers] = evaluations;
    const { margin, seed } = config;
    const verdicts = challengers.map((challenger) => switching({ incumbent, challenger, ...repeated, margin, seed }));
    const table = baselineTables(evaluations);
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
  readonly context: Context;
};

/** As `tabwright eval` does it; one that was begun is gone on with. Gives the file of the evaluation. */
async function evaluateModel({ model, at, context }: EvaluateOptions): Promise<string> {
  const { config, given, listener, signal } = context;
  await makeFolder(config.folder);
  const name = `${at}-${model.replace(/[^A-Za-z0-9.-]+/g, '-')}`;
  const output = join(config.folder, `${name}.json`);
  const out = join(config.folder, name);
  const played: GlobalOptions = {
    model,
    out,
    resume: existsSync(join(out, 'config.json')),
    ...(given.baseUrl !== undefined && model.startsWith('tinker:') ? { baseUrl: given.baseUrl } : {}),
  };
  const settings = Object.fromEntries(Object.entries(config).filter(([key]) => !OWN.has(key)));
  try {
    await evaluate.action({
      config: evalSchema.parse({ ...settings, output }),
      given: played,
      operands: [],
      listener,
      signal,
      openRun: (noted) => openRun({ command: evaluate.name, given: played, config: noted, listener }),
      print: () => undefined, // the table says it
    });
  } catch (cause) {
    signal.throwIfAborted();
    if (!(cause instanceof TabwrightError)) throw cause;
    const { boundary, code, message, details } = cause;
    throw new TabwrightError(boundary, `${model} could not be evaluated: ${message}`, { code, details, cause });
  }
  return output;
}
