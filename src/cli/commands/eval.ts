// `tabwright eval`: how good a model is on tasks, with the interval that fits: of an environment, of a file, or one task
// in words on any website. Every figure names who said what a success is.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { asJson, TabwrightError, type AnyTrajectory, type Trajectory } from '../../core/index.ts';
import { CLICK_CHECKBOXES } from '../../envs/index.ts';
import {
  buildEvaluation,
  buildReport,
  planEvaluation,
  playEvaluation,
  readEvaluation,
  renderReportHtml,
  stampEvaluation,
  type Evaluation,
  type PlayedEvaluation,
  type PlayEvaluationOptions,
} from '../../experiments/index.ts';
import type { RunFolder } from '../../store/index.ts';
import { checkModelKey } from '../actors.ts';
import { blindSubmitBaseline } from '../click-checkboxes.ts';
import { environmentSettings } from '../environment-settings.ts';
import { openEnvironment } from '../environments.ts';
import { openEvaluatedActor, type EvaluatedActor } from '../evaluated-actor.ts';
import { evaluationSummary } from '../evaluation-summary.ts';
import { currentCommit, machineFacts } from '../machine.ts';
import { withoutEffect, type OpenedEnvironment, type Split } from '../opened-environment.ts';
import { pricesSetting, readPrices } from '../prices.ts';
import type { CommandContext, CommandSpec } from '../run-command.ts';
import { modelSettings } from '../stage-context.ts';
import { reportSummary } from '../summary.ts';
import { rolloutLimits } from '../training-environment.ts';
import { runVersions } from '../version.ts';
import { writeOutput } from '../write-output.ts';
import { openOneTask } from '../website-environments.ts';
import { showTurn, tellOneTask } from './web-task.ts';

export const evalSchema = z.strictObject({
  seed: z.int().nonnegative().default(1).describe('makes the command reproducible'),
  ...environmentSettings,
  tasks: z.string().min(1).optional().describe('a file of tasks instead of an environment: `tabwright tasks validate`'),
  url: z.url().optional().describe('a page to start at: one task on any website instead of an environment'),
  task: z.string().min(1).optional().describe('with --url: what is to be done there'),
  split: z.enum(['train', 'test', 'all']).optional().describe('which of the tasks (default: test)'),
  episodes: z
    .int()
    .positive()
    .max(100_000)
    .optional()
    .describe('instances in all (default: all; 200 of a task whose instances have seeds)'),
  seeds: z.int().positive().max(100_000).optional().describe('instances of each task that has seeds (default: 1)'),
  samples: z.int().positive().max(1_000).default(1).describe('tries at each instance'),
  temperature: z.number().nonnegative().default(1).describe('of every draw, 0 is greedy'),
  ...modelSettings,
  decodeWeights: z
    .enum(['f32', 'q8', 'q4'])
    .optional()
    .describe(
      'weights that a pretrained model of this machine decodes with: f32, or rounded to q8 or q4, which is another policy (default: f32)',
    ),
  baseUrl: z
    .url()
    .optional()
    .describe('with openai:<name>, openrouter:<name> or tinker:...: the address of the endpoint or server'),
  prices: pricesSetting()
    .optional()
    .describe(
      "dollars for a million of the model's tokens in and out, where its endpoint does not say what it charges",
    ),
  output: z.string().min(1).optional().describe('also write the evaluation there, for `tabwright compare`'),
  verbose: z.boolean().optional().describe('print every action and what came of it'),
});

export type EvalConfig = z.output<typeof evalSchema>;
type Context = CommandContext<EvalConfig>;

export const evaluate: CommandSpec<typeof evalSchema> = {
  name: 'eval',
  summary:
    'Measure a model on tasks: exact success with its interval, what broke, what it took. Or give it one task on any website.',
  examples: [
    'eval --model nano',
    'eval --model runs/train --episodes 500 --temperature 0',
    'eval --env miniwob --split test --seeds 5 --model runs/train --output runs/miniwob.json',
    'eval --env miniwob/click-test --model scripted:oracle --episodes 50',
    'eval --model tinker:nano --base-url http://127.0.0.1:8000',
    'eval --url https://example.com --task "What is the page about?" --model openai:gpt-5-mini --verbose',
  ],
  schema: evalSchema,
  flags: ['model', 'out', 'resume', 'overwrite'],
  moreModels: 'openai:<name>, openrouter:<name>, scripted:<policy, or file of replies>',
  async action(context) {
    const { config, given, signal } = context;
    const start = performance.now();
    await checkModelKey(given.model ?? 'nano', given.baseUrl ?? config.baseUrl); // before browsers are started for nothing
    await using opened = await openTasks(config, given, signal);
    await using model = await openEvaluatedActor({ ...context, opened });
    const split = splitOf(opened, config.split);
    const plan = planEvaluation({
      tasks: opened.tasks(split),
      isSeeded: opened.isSeeded,
      firstSeed: opened.firstEvalSeed,
      seeds: config.seeds,
      episodes: config.episodes,
      samples: config.samples,
    });
    const commit = await currentCommit();
    const versions = runVersions(opened.product);
    const { samples, seed, temperature } = config;
    await using run = await context.openRun({
      model: model.name,
      ...model.noted,
      commit,
      versions,
      ...asJson(settingsOf(config)),
      split,
      ...opened.noted,
      episodes: plan.length / samples,
    });
    const played = await play(model, {
      plan,
      run,
      title: `Evaluating ${model.name} on ${opened.env.name}`,
      runSeed: seed,
      listener: context.listener,
      signal,
      ...rolloutLimits(opened, model.isSlow),
      ...(config.verbose === true ? { onTurn: (turn) => showTurn(turn, given.json ?? false) } : {}),
      // A task in words is an errand, not a sample: it is done once, and its failure is the command's.
      ...(config.url === undefined ? {} : { maxRetries: 0 }),
    });
    // One that was complete before was made then, by the program of then; only figures are made anew.
    const before = existsSync(join(run.dir, 'evaluation.json')) ? await readEvaluation(run.dir) : undefined;
    const evaluation = buildEvaluation({
      model: model.name,
      renderer: model.renderer,
      environment: { name: opened.env.name, version: opened.version, split, settings: opened.noted },
      reward: opened.reward,
      judge: opened.judge ?? null,
      sampling: { seed, temperature, samples },
      date: before?.date ?? new Date().toISOString(),
      commit: before === undefined ? commit : before.commit,
      versions: before?.versions ?? versions,
      plan,
      trajectories: played.trajectories,
      wallSeconds: before === undefined ? played.wallSeconds : before.summary.wallSeconds,
      ...(config.prices === undefined ? {} : { prices: readPrices(config.prices) }),
    });
    const stamped = stampEvaluation(evaluation);
    await run.writeEvaluation(stamped);
    if (config.output !== undefined) await writeOutput(config.output, stamped);
    if (config.url !== undefined) {
      const [trajectory] = played.trajectories;
      return tellOneTask({ trajectory, folder: run.dir, judge: opened.judge?.id }, context.print);
    }
    const seconds = (performance.now() - start) / 1000;
    await tell({ context, opened, model, evaluation, played, run, seconds });
  },
};

async function openTasks(config: EvalConfig, given: object, signal: AbortSignal): Promise<OpenedEnvironment> {
  const { url, task: instruction, tasks } = config;
  const draws = config.split ?? 'test';
  const isGiven = (name: string): boolean => (given as Readonly<Record<string, unknown>>)[name] !== undefined;
  if (url === undefined && instruction === undefined) {
    if (tasks === undefined) return openEnvironment({ config, draws, signal });
    if (isGiven('env')) throw withoutEffect('env', 'for tasks of an environment, not for those of a file');
    return openEnvironment({ config: { ...config, env: `tasks:${tasks}` }, draws, signal });
  }
  if (url === undefined || instruction === undefined) {
    throw new TabwrightError('config', '--url and --task belong together: where to start, and what to do there.', {
      code: 'half-a-task',
    });
  }
  const other = ['env', 'tasks', 'split', 'episodes', 'seeds', 'samples'].find(isGiven);
  if (other !== undefined) throw withoutEffect(other, 'for many tasks, not for the one of --url and --task');
  return openOneTask({ url, instruction }, { config, draws, signal });
}

/** Tasks that are not divided have no halves to choose from. */
function splitOf(opened: OpenedEnvironment, given: EvalConfig['split']): Split {
  if (opened.tasks('all').some(({ split }) => split !== null)) return given ?? 'test';
  if (given === undefined || given === 'all') return 'all';
  throw withoutEffect('split', `for tasks that are divided, which those of ${opened.env.name} are not`);
}

/** What the run notes: no flags of this command alone, and of the environment what it notes itself. */
function settingsOf(config: EvalConfig): Partial<EvalConfig> {
  const { output: _output, verbose: _verbose, prices: _prices, baseUrl: _baseUrl, ...settings } = config;
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

type Playing = Omit<PlayEvaluationOptions<unknown>, 'env' | 'actor'>;

function play(model: EvaluatedActor, options: Playing): Promise<PlayedEvaluation> {
  const { env } = model;
  return model.kind === 'chat'
    ? playEvaluation({ ...options, env, actor: model.actor })
    : playEvaluation({ ...options, env, actor: model.actor });
}

type TellOptions = {
  readonly context: Context;
  readonly opened: OpenedEnvironment;
  readonly model: EvaluatedActor;
  readonly evaluation: Evaluation;
  readonly played: PlayedEvaluation;
  readonly run: RunFolder;
  readonly seconds: number;
};

/** Puzzles of a model that trains have a report of their own beside the figures that all have. */
async function tell({ context, opened, model, evaluation, played, run, seconds }: TellOptions): Promise<void> {
  const { config, print } = context;
  const files = { evaluation: config.output ?? join(run.dir, 'evaluation.json'), out: run.dir };
  const { summary, reward } = evaluation;
  if (opened.env.name !== CLICK_CHECKBOXES || model.kind !== 'tokens' || config.samples > 1) {
    print(evaluationSummary(evaluation, files.evaluation), { ...files, reward, summary });
    return;
  }
  const { seed } = config;
  const report = buildReport({
    env: opened.env.name,
    model: model.name,
    stages: [{ name: 'eval', title: 'Eval', trajectories: played.trajectories.filter(hasTokens) }],
    baselines: [blindSubmitBaseline()],
    seconds,
    seeds: { run: seed, evaluation: { first: opened.firstEvalSeed, count: evaluation.episodes.length } },
    machine: machineFacts(),
    commit: evaluation.commit,
    config: run.config,
  });
  await run.writeReport({ json: report, html: renderReportHtml(report, { curves: [], replays: [] }) });
  const { exact } = report.stages[0];
  print(reportSummary(report, run.dir), { report: `${run.dir}/report.json`, exact, ...files, reward, summary });
}

function hasTokens(trajectory: AnyTrajectory): trajectory is Trajectory {
  return !trajectory.turns.some((turn) => 'reply' in turn);
}
