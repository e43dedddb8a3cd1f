// Environments out of files: `tasks:<file>`, tasks on websites that others wrote, and `math:<file>`, questions with a number
// as their answer. Their version is the content's hash: figures of other content do not compare.

import { TabwrightError, type Action } from '../core/index.ts';
import {
  attachPolicy,
  createMathEnv,
  domainOf,
  fillMsOf,
  findSites,
  loadTasks,
  MATH,
  mathProblems,
  placeholdersOf,
  showNumber,
  taskFileBegin,
  taskFileVerifier,
  webTasksOf,
  withSites,
  type EpisodePolicy,
  type LoadedTask,
  type MathProblem,
  type TaskJudges,
} from '../envs/index.ts';
import type { EgressRule } from '../sandbox/index.ts';
import { contentHash } from './content-hash.ts';
import { environmentSettings, taskFileSettings, type EnvironmentSettings } from './environment-settings.ts';
import { openGraderJudges } from './judge-option.ts';
import {
  policies,
  withoutEffect,
  type EnvironmentTask,
  type JudgeFacts,
  type OpenedEnvironment,
  type OpenEnvironmentOptions,
} from './opened-environment.ts';
import { beforeSecondsOf, prepareTasks } from './task-file-preparation.ts';
import { openRows } from './task-source.ts';
import { openWebsites } from './website-environments.ts';

export const TASK_FILE = 'tasks:';
export const MATH_FILE = 'math:';

export async function openTaskFile(options: OpenEnvironmentOptions): Promise<OpenedEnvironment> {
  const { config, signal } = options;
  const rows = await openRows(config.env.slice(TASK_FILE.length), { signal, environment: process.env });
  const read = loadTasks(rows);
  const given = (config.site ?? '').split(',').filter((part) => part !== '');
  const tasks = withSites(read, findSites(placeholdersOf(read), { given, environment: process.env }));
  refuseWithoutJudge(tasks, config);
  const specs = webTasksOf(tasks);
  const judges = await taskJudges(config);
  const prepared = await prepareTasks(tasks, config, signal);
  const { begin, network } = taskFileBegin(prepared);
  const statesMs = [...prepared.states!.values()].reduce((sum, state) => sum + fillMsOf(state), 0);
  const resetMs = config.beforeEach === undefined ? 0 : 1000 * beforeSecondsOf(config);
  return openWebsites(
    {
      name: 'tasks',
      version: hashOf(read),
      tasks: specs.map((spec, i) => ({ ...spec, ...placeOf(tasks[i]) })),
      egress: tasks.flatMap(({ startUrls }) => startUrls.flatMap(ownHost)),
      allow: '*',
      ...(config.beforeEach === undefined ? {} : { sessions: 1 }),
      beginMs: resetMs + statesMs,
      begin,
      verify: taskFileVerifier(tasks, { judges: judges.asked, network }),
      ...(judges.facts === undefined ? {} : { judge: judges.facts }),
      noted: {
        env: config.env,
        ...Object.fromEntries(
          taskFileSettings.flatMap((name) => (config[name] === undefined ? [] : [[name, config[name]]])),
        ),
      },
    },
    options,
  );
}

/** No ending of theirs could be a success: that is told before anything is played and paid for. */
function refuseWithoutJudge(
  tasks: readonly LoadedTask[],
  { env, reward = 'code', judgeModel }: EnvironmentSettings,
): void {
  if (reward !== 'code' || judgeModel !== undefined) return;
  if (!tasks.every(({ checks }) => checks.some(({ kind }) => kind === 'judged'))) return;
  throw new TabwrightError('config', `Every task of ${env} needs a judge: name its model with --judge-model.`, {
    code: 'no-judge',
    details: { env, tasks: tasks.length },
  });
}

/** The name under which halves and likeness of a task are known. */
function placeOf({ id, split, group, startUrls }: LoadedTask): Pick<EnvironmentTask, 'id' | 'split' | 'group'> {
  return {
    id,
    split: split === 'train' || split === 'test' ? split : null,
    group: group ?? domainOf(startUrls[0]),
  };
}

/** What checks ask of a model, where one is named without a --reward that would take the checks' place. */
export async function taskJudges(
  config: EnvironmentSettings,
): Promise<{ readonly asked: TaskJudges; readonly facts?: JudgeFacts }> {
  if ((config.reward ?? 'code') !== 'code') return { asked: {} };
  const asked = await openGraderJudges(config);
  if (asked === undefined) return { asked: {} };
  const all = [asked.text, asked.episode, asked.rubric];
  return {
    asked,
    facts: {
      id: `code+${config.judgeModel}`,
      kind: 'code',
      model: asked.episode.model,
      promptHash: contentHash(JSON.stringify(all.map(({ promptHash }) => promptHash))),
      deadlineMs: all.reduce((sum, { deadlineMs }) => sum + deadlineMs, 0), // checks of one task ask one after another
    },
  };
}

/** A file that names a server of this machine or its network means it. */
function ownHost(url: string): readonly EgressRule[] {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/u, '$1');
  return [{ host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) }];
}

/** Flags that a question in words heeds. */
export const OF_MATH: readonly string[] = ['env', 'sessions', 'turnTokens', 'reward'];
const QUESTIONS = 64;
const REPLY_TOKENS = 2_048;

export async function openMathFile({ config, signal }: OpenEnvironmentOptions): Promise<OpenedEnvironment> {
  for (const name of Object.keys(environmentSettings)) {
    const value = config[name as keyof EnvironmentSettings];
    if (value !== undefined && !OF_MATH.includes(name)) throw withoutEffect(name, `not for ${config.env}`);
  }
  if (config.reward !== undefined && config.reward !== 'code') throw withoutEffect('reward', 'always code here');
  const problems = mathProblems(
    await openRows(config.env.slice(MATH_FILE.length), { signal, environment: process.env }),
  );
  const { sessions = QUESTIONS, turnTokens = REPLY_TOKENS } = config;
  const env = createMathEnv({ problems, capacity: sessions });
  const rows = problems.map(({ id }, i): EnvironmentTask => ({
    id,
    split: null,
    group: id,
    instance: (seed) => ({ ...env.task(i), seed }),
  }));
  return {
    env,
    version: hashOf(problems.map(({ id, question, answer }) => [id, question, showNumber(answer)])),
    isSeeded: false,
    firstEvalSeed: 0,
    tasks: () => rows,
    ...policies(MATH, mathPolicies(problems), (policy) => attachPolicy(env, policy)),
    reward: 'code',
    turnTokens,
    product: undefined,
    noted: { env: config.env, sessions, turnTokens },
    deadlines: {},
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  };
}

function mathPolicies(problems: readonly MathProblem[]): Readonly<Record<'oracle' | 'noop' | 'blind', EpisodePolicy>> {
  const answers = new Map(problems.map(({ id, answer }) => [`${MATH}/${id}`, showNumber(answer)]));
  const always = (action: Action): ReturnType<EpisodePolicy['begin']> => ({ act: () => Promise.resolve(action) });
  const answer = (number: string): Action => ({ kind: 'answer', text: `#### ${number}` });
  return {
    oracle: { name: 'oracle', begin: ({ id }) => always(answer(answers.get(id) ?? '')) },
    noop: { name: 'noop', begin: () => always({ kind: 'malformed', problem: 'the reply is empty', text: '' }) },
    blind: { name: 'blind', begin: () => always(answer('1')) },
  };
}

function hashOf(content: unknown): string {
  return contentHash(JSON.stringify(content));
}
