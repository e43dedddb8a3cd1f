// What training takes of an environment that is open: which tasks a step sees, which are measured on the way, how rows are
// balanced, and what rollouts must know of its limits.

import { z } from 'zod';
import { TabwrightError, type Env, type Task } from '../core/index.ts';
import { CLICK_CHECKBOXES, createPuzzle, MINIWOB } from '../envs/index.ts';
import type { Deadlines } from '../rollout/index.ts';
import { createTaskListSampler, createTaskSampler, type RlOptions, type TaskSampler } from '../train/index.ts';
import { wantedBoxes } from './click-checkboxes.ts';
import {
  environmentSettings,
  pageSettings,
  taskFileSettings,
  websiteSettings,
  type EnvironmentSettings,
} from './environment-settings.ts';
import { openEnvironment, readTasks } from './environments.ts';
import { MATH_FILE, OF_MATH, TASK_FILE } from './file-environments.ts';
import type { OpenedEnvironment } from './opened-environment.ts';
import type { ChatSettings } from './chat-policy.ts';
import { REMOTE_DEADLINES } from './stage-context.ts';

/** Puzzles by their number of wanted boxes; other tasks are all the same. */
export function balanceKey({ env, seed }: Task): string {
  return env === CLICK_CHECKBOXES ? String(wantedBoxes(createPuzzle(seed))) : '';
}

/** Settings of every command that trains on episodes or collects them. */
export const playSettings = {
  seed: z.int().nonnegative().default(1).describe('makes the command reproducible'),
  ...environmentSettings,
  temperature: z.number().nonnegative().default(1).describe('of every draw, 0 is greedy'),
} as const;

export type TrainingTasksOptions = {
  readonly opened: OpenedEnvironment;
  readonly runSeed: number;
  /** First of the seeds of instances, where there are instances. */
  readonly firstSeed: number;
};

export function trainingTasks({ opened, runSeed, firstSeed }: TrainingTasksOptions): TaskSampler {
  if (opened.isSeeded) return createTaskSampler({ env: opened.env, firstSeed, balanceKey });
  const tasks = opened.tasks('train').map((task) => task.instance(0));
  if (tasks.length === 0) {
    throw new TabwrightError('config', `${opened.env.name} has no tasks to train on.`, { code: 'no-tasks' });
  }
  return createTaskListSampler({ tasks, runSeed });
}

/** Tasks of training, one an episode; a list goes round as often as that takes. */
export function collectionTasks(options: TrainingTasksOptions, episodes: number): readonly Task[] {
  const sample = trainingTasks(options);
  if (options.opened.isSeeded) return sample(0, episodes);
  const count = options.opened.tasks('train').length;
  return Array.from({ length: Math.ceil(episodes / count) }, (_, round) => sample(round, count))
    .flat()
    .slice(0, episodes);
}

/**
 * Settings of training and of what `--eval-tasks` names, where that is a file: an environment of its own, which heeds others.
 * A flag that only one of them heeds is for that one.
 */
export function dividedSettings<T extends EnvironmentSettings & { readonly evalTasks?: string | undefined }>(
  config: T,
): { readonly training: T; readonly measured: T } {
  if (config.evalTasks === undefined || !isFile(config.evalTasks)) return { training: config, measured: config };
  return {
    training: without(config, unheededBy(config.env)),
    measured: without(config, Object.keys(pageSettings)),
  };
}

/** Settings that tasks of a file heed and this environment does not. */
function unheededBy(env: string): readonly string[] {
  const ofWebsites = Object.keys(websiteSettings);
  if (env === CLICK_CHECKBOXES || env === MINIWOB || env.startsWith(`${MINIWOB}/`)) return ofWebsites;
  // It has one way to pay, whoever judges those of the file.
  if (env.startsWith(MATH_FILE)) return ofWebsites.filter((name) => name === 'reward' || !OF_MATH.includes(name));
  return env.startsWith(TASK_FILE) ? [] : taskFileSettings;
}

function isFile(source: string): boolean {
  return /\.(jsonl?|parquet)$/.test(source);
}

function without<T extends object>(settings: T, names: readonly string[]): T {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name))) as T;
}

export type Measured = AsyncDisposable & {
  readonly env: Env;
  readonly from: OpenedEnvironment;
  /** For `evaluationTasks`. */
  readonly source: string;
};

/** What `--eval-tasks` names: tasks of the environment that is open, or a file, which is an environment of its own. */
export async function openMeasured(
  opened: OpenedEnvironment,
  {
    config,
    signal,
  }: {
    readonly config: EnvironmentSettings & { readonly evalTasks?: string | undefined };
    readonly signal: AbortSignal;
  },
): Promise<Measured | undefined> {
  const { evalTasks: source } = config;
  if (source === undefined) return undefined;
  if (!isFile(source)) {
    return { env: opened.env, from: opened, source, [Symbol.asyncDispose]: async () => undefined };
  }
  const from = await openEnvironment({ config: { ...config, env: `${TASK_FILE}${source}` }, draws: 'all', signal });
  return { env: from.env, from, source: 'all', [Symbol.asyncDispose]: () => from[Symbol.asyncDispose]() };
}

/** Of instances without end, when their number is not given. */
const EVALUATED = 64;

/**
 * The tasks of `source`, as many as `episodes`: where there are more, every n-th of them, so that all kinds are among
 * them; where instances have seeds, further instances in turn.
 */
export function evaluationTasks(
  opened: OpenedEnvironment,
  source: string,
  episodes: number | undefined,
): readonly Task[] {
  const first = readTasks(opened, source);
  if (first.length === 0) {
    throw new TabwrightError('config', `--eval-tasks ${source}: there are none in ${opened.env.name}.`, {
      code: 'no-tasks',
      details: { source },
    });
  }
  const count = episodes ?? (opened.isSeeded ? Math.max(EVALUATED, first.length) : first.length);
  if (count <= first.length)
    return Array.from({ length: count }, (_, i) => first[Math.floor((i * first.length) / count)]);
  if (!opened.isSeeded) {
    throw new TabwrightError('config', `--eval-episodes ${count}: ${source} has ${first.length} tasks.`, {
      code: 'too-few-tasks',
      details: { wanted: count, tasks: first.length },
    });
  }
  const [, split] = source.split(':');
  const rows = opened.tasks((split ?? source) as 'train' | 'test' | 'all');
  return Array.from({ length: count }, (_, i) =>
    rows[i % rows.length].instance(opened.firstEvalSeed + Math.floor(i / rows.length)),
  );
}

/** A model's replies on websites are as long as the environment allows; the flag for other pages would say it twice. */
export function refuseReplyFlag({ turnTokens }: Pick<OpenedEnvironment, 'turnTokens'>, settings: ChatSettings): void {
  if (turnTokens === undefined || settings.maxActionTokens === undefined) return;
  throw new TabwrightError('config', '--max-action-tokens is --turn-tokens on websites.', {
    code: 'option-without-effect',
    details: { flag: '--max-action-tokens' },
  });
}

/** What rollouts must know of the environment's limits; a slow model gets the longer of its deadlines and the environment's. */
export function rolloutLimits(
  { deadlines, tokenBudget }: Pick<OpenedEnvironment, 'deadlines' | 'tokenBudget'>,
  isSlow: boolean,
): Pick<NonNullable<RlOptions['rollout']>, 'deadlines' | 'tokenBudget'> {
  const merged: Partial<Deadlines> = isSlow
    ? {
        ...deadlines,
        ...Object.fromEntries(
          Object.entries(REMOTE_DEADLINES).map(([name, ms]) => [
            name,
            Math.max(ms, deadlines[name as keyof Deadlines] ?? 0),
          ]),
        ),
      }
    : deadlines;
  return { deadlines: merged, ...(tokenBudget === undefined ? {} : { tokenBudget }) };
}
