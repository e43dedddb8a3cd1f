// Environments whose tasks are on websites: a session of the Browser REPL for each episode, from this machine or a pool,
// and who says what is a success: the task's own grader, a judge, or nobody.

import type { JsonObject } from '../core/index.ts';
import {
  createWebTaskEnv,
  judgeVerifier,
  WEB_TASK,
  webTask,
  type Verifier,
  type BegunEpisode,
  type WebTaskConfig,
  type WebTaskEnvOptions,
  type WebTaskSpec,
} from '../envs/index.ts';
import type { Judge } from '../judges/index.ts';
import type { Deadlines } from '../rollout/index.ts';
import type { EgressRule } from '../sandbox/index.ts';
import { egressRules } from './egress-option.ts';
import { pageSettings, taskFileSettings, webLimits, type EnvironmentSettings } from './environment-settings.ts';
import { openJudge } from './judge-option.ts';
import {
  policies,
  withoutEffect,
  type EnvironmentTask,
  type JudgeFacts,
  type ModelFreePolicy,
  type OpenedEnvironment,
  type OpenEnvironmentOptions,
} from './opened-environment.ts';
import { browserProduct, openProvider } from './session-provider.ts';
import { refuseOutOfReach } from './sites-reach.ts';
import type { OpenWebSuite } from './web-suites.ts';

const SESSIONS = 4;
/** Browsers of this machine are there or start; those of a pool may be with others, whose episodes take long. */
const ACQUIRE_MS = { local: 120_000, pool: 3_600_000 } as const;

export async function openWebSuiteEnvironment(
  open: OpenWebSuite,
  options: OpenEnvironmentOptions,
): Promise<OpenedEnvironment> {
  refuseOutOfReach(options.config);
  refuseTaskFileSettings(options.config);
  const suite = await open({ port: options.config.sitesPort });
  try {
    const { description, tasks, egress, policies: known } = suite;
    const { env: name } = options.config;
    const begin: WebsiteParts['begin'] = (id, at) => suite.begin(id, at);
    const parts = { name, version: description.version, tasks, egress, begin };
    const opened = await openWebsites(parts, options);
    const { env } = opened;
    return {
      ...opened,
      ...policies(name, known, (actor) => ({ env, actor })),
      async [Symbol.asyncDispose]() {
        await opened[Symbol.asyncDispose]();
        await suite[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await suite[Symbol.asyncDispose]();
    throw error;
  }
}

/** One task in words, which only a judge can grade. */
export function openOneTask(
  task: { readonly url: string; readonly instruction: string },
  options: OpenEnvironmentOptions,
): Promise<OpenedEnvironment> {
  refuseTaskFileSettings(options.config);
  const id = webTask(task).id.slice(WEB_TASK.length + 1);
  const tasks = [{ ...task, id, split: null, group: id }];
  return openWebsites({ name: WEB_TASK, version: '1', tasks, egress: [], allow: '*', sessions: 1 }, options);
}

function refuseTaskFileSettings(config: EnvironmentSettings): void {
  const given = taskFileSettings.find((name) => config[name] !== undefined);
  if (given !== undefined) throw withoutEffect(given, `for tasks:<file>, not for ${config.env}`);
}

export type WebsiteParts = {
  readonly name: string;
  readonly version: string;
  readonly tasks: readonly (WebTaskSpec & Pick<EnvironmentTask, 'id' | 'split' | 'group'>)[];
  readonly egress: readonly EgressRule[];
  /** Hosts, where --allow says nothing. Default none beside `egress`. */
  readonly allow?: string;
  /** Where --sessions says nothing. */
  readonly sessions?: number;
  readonly begin?: NonNullable<WebTaskEnvOptions['begin']>;
  /** Milliseconds that `begin` may take beside what a page takes. */
  readonly beginMs?: number;
  /** Of tasks that `begin` brings no grader for. */
  readonly verify?: Verifier;
  /** Whom `verify` asks, where it asks models itself: no other judge is opened then. */
  readonly judge?: JudgeFacts;
  readonly noted?: JsonObject;
};

export async function openWebsites(parts: WebsiteParts, options: OpenEnvironmentOptions): Promise<OpenedEnvironment> {
  const { name, version, tasks, begin, verify } = parts;
  const { config, draws = 'train', signal } = options;
  for (const key of Object.keys(pageSettings)) {
    if (config[key as keyof typeof pageSettings] !== undefined) {
      throw withoutEffect(key, `for pages of one browser; ${name} has --sessions`);
    }
  }
  if (config.reward === 'rubric' && !tasks.every(({ rubric }) => rubric !== undefined)) {
    const without = tasks.filter(({ rubric }) => rubric === undefined).length;
    const where = 'tasks:<file> with --judge-model and no --reward asks for the facts of its tasks';
    throw withoutEffect(
      'reward rubric',
      `for tasks with a rubric, which ${without} of ${tasks.length} have not; ${where}`,
    );
  }
  const { pool, profile = 'train', unsafeLocal = false } = config;
  const sessions = config.sessions ?? parts.sessions ?? SESSIONS;
  const allow = config.allow ?? parts.allow;
  const limits = webLimits(config);
  const judge = parts.judge === undefined ? await openJudge(config) : undefined;
  const named: JudgeFacts | undefined = judge ?? parts.judge;
  const egress = [...parts.egress, ...(allow === undefined ? [] : egressRules(allow))];
  const provider = await openProvider({ pool, sessions, egress, profile, unsafeLocal, signal });
  const drawn = tasks.filter(({ split }) => draws === 'all' || split === null || split === draws);
  const acquireMs = pool === undefined ? ACQUIRE_MS.local : ACQUIRE_MS.pool;
  const env = createWebTaskEnv({
    name,
    provider,
    tasks: drawn.length === 0 ? tasks : drawn,
    capacity: sessions,
    config: limits,
    acquireMs,
    ...graded({ begin, verify, judge }),
  });
  try {
    const rows = tasks.map((task): EnvironmentTask => {
      const { id, split, group } = task;
      return { id, split, group, instance: (seed) => webTask(task, { seed, env: name }) };
    });
    const where: JsonObject = pool === undefined ? { profile, unsafeLocal } : { pool };
    const reward = named?.id ?? (begin === undefined && verify === undefined ? 'nobody' : 'code');
    return {
      env,
      version,
      isSeeded: false,
      firstEvalSeed: 0,
      tasks: (split) => rows.filter((row) => split === 'all' || row.split === null || row.split === split),
      ...policies<ModelFreePolicy>(name, {}, (policy) => policy),
      reward,
      ...(named === undefined ? {} : { judge: named }),
      turnTokens: limits.turnTokens,
      tokenBudget: limits.trajectoryTokens,
      product: await browserProduct(provider, { acquireMs, signal }),
      noted: {
        env: name,
        sessions,
        ...where,
        ...(allow === undefined ? {} : { allow }),
        tool: 'browser_repl',
        ...limits,
        ...parts.noted,
        reward,
        ...(named === undefined ? {} : { judgePrompts: named.promptHash }),
      },
      deadlines: webDeadlines({
        ...limits,
        acquireMs: acquireMs + (parts.beginMs ?? 0),
        judgeMs: named?.deadlineMs ?? 0,
      }),
      [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
    };
  } catch (error) {
    await env[Symbol.asyncDispose]();
    throw error;
  }
}

type Grading = Pick<WebsiteParts, 'begin' | 'verify'>;

/** A judge takes the place of every other grader; the state of the episode's site stays, and what its own grader says. */
export function graded({
  begin,
  verify,
  judge,
}: { [K in keyof Grading]: Grading[K] | undefined } & { judge: Judge | undefined }): Grading {
  const judged = judge === undefined ? undefined : judgeVerifier({ judge });
  const verifier = judged ?? verify;
  return {
    ...(verifier === undefined ? {} : { verify: verifier }),
    ...(begin === undefined
      ? {}
      : {
          begin: async (id, at): Promise<BegunEpisode> => {
            const instance = await begin(id, at);
            const own = instance.verify;
            if (judged === undefined || own === undefined) return instance;
            return {
              startUrl: instance.startUrl,
              // A site of ours that failed is no failure of the agent's: its own check throws then, before a judge is paid.
              verify: async (end, call) => {
                const { success, reward } = await own(end, call);
                const verdict = await judged(end, call);
                return { ...verdict, details: { ...verdict.details, byCode: { success, reward } } };
              },
              [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
            };
          },
        }),
  };
}

export type WebDeadlineOptions = Pick<WebTaskConfig, 'cellSeconds' | 'maxTurns'> & {
  readonly acquireMs: number;
  /** Of the verdict, which is part of the last turn. */
  readonly judgeMs: number;
};

/** A reply and the cell that it asks for, each with what it takes beside its own deadline. */
export function webDeadlines({ cellSeconds, maxTurns, acquireMs, judgeMs }: WebDeadlineOptions): Deadlines {
  const operationMs = Math.max(200_000, cellSeconds * 1000 + 60_000, judgeMs + 60_000);
  const turnMs = operationMs + 200_000;
  const episodeMs = turnMs * (maxTurns + 1);
  const openMs = acquireMs + 200_000;
  return { openMs, operationMs, turnMs, episodeMs, runMs: openMs + episodeMs + turnMs };
}
