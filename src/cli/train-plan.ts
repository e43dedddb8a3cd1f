// What `tabwright train` would do, in words and as data: model, renderer, environment, budgets, episodes, keys. It opens no
// browser, asks no server and needs no key.

import { TabwrightError, type JsonObject } from '../core/index.ts';
import { CLICK_CHECKBOXES, MINIWOB } from '../envs/index.ts';
import { KNOWN_MODELS, modelFamily } from '../tokens/index.ts';
import { playedFormat, thinksFirst } from './chat-policy.ts';
import { TASK_FILE } from './file-environments.ts';
import { outOfReach } from './sites-reach.ts';
import { webLimits, type EnvironmentSettings } from './environment-settings.ts';
import type { GlobalOptions } from './run-command.ts';
import { readSecret } from './secrets.ts';
import { WEB_SUITES } from './web-suites.ts';

export type PlannedTraining = EnvironmentSettings & {
  readonly steps: number;
  readonly groups: number;
  readonly groupSize: number;
  readonly learningRate: number;
  readonly beta: number;
  readonly loraRank?: number | undefined;
  readonly chatFormat?: string | undefined;
  readonly maxActionTokens?: number | undefined;
  readonly contextLength?: number | undefined;
  readonly evalTasks?: string | undefined;
  readonly evalEvery?: number | undefined;
  readonly evalEpisodes?: number | undefined;
};

export type DescribeTrainingOptions = {
  readonly name: string;
  readonly config: PlannedTraining;
  readonly given: GlobalOptions;
  readonly rateGiven: boolean;
  readonly adapterRate: number;
  readonly signal: AbortSignal;
};

export type TrainingPlan = { readonly text: string; readonly data: JsonObject };

type Facts = Readonly<Record<string, string | number | boolean | null>>;

export async function describeTraining(options: DescribeTrainingOptions): Promise<TrainingPlan> {
  const { config, name, given, rateGiven, adapterRate } = options;
  const model = modelFacts(options);
  const environment = await environmentFacts(options);
  const { steps, groups, groupSize, beta, evalTasks, evalEvery = 10, evalEpisodes } = config;
  const onServer = name.startsWith('tinker:');
  const adapters = config.loraRank !== 0 && (config.loraRank !== undefined || name !== 'nano');
  const measured = evalEpisodes ?? (evalTasks === undefined ? 0 : testTasks(environment, evalTasks));
  const measurements = evalTasks === undefined ? 0 : Math.ceil(steps / evalEvery) + 1;
  const training: Facts = {
    where: onServer ? (given.baseUrl ?? (process.env['TINKER_BASE_URL'] || 'Tinker')) : 'this process',
    weights: adapters ? `adapters of rank ${config.loraRank ?? 32}` : 'every weight',
    learningRate: rateGiven || !adapters ? config.learningRate : adapterRate,
    beta,
    steps,
    groups,
    groupSize,
    episodes: steps * groups * groupSize,
    measured: evalTasks === undefined ? null : `${evalTasks}, before every ${evalEvery}. step and at the end`,
    measuredEpisodes: measured === null ? null : measurements * measured,
  };
  const keys: Facts = Object.fromEntries(
    await Promise.all(
      keysOf(options, onServer).map(async (key) => [key, (await readSecret(key)) !== undefined ? 'set' : 'not set']),
    ),
  ) as Facts;
  const parts: readonly (readonly [string, Facts])[] = [
    ['model', model],
    ['environment', environment],
    ['training', training],
    ['keys', keys],
  ];
  const text = parts
    .filter(([, facts]) => Object.keys(facts).length > 0)
    .map(([title, facts]) => `${title}\n${lines(facts)}`)
    .join('\n');
  return { text, data: Object.fromEntries(parts) };
}

function lines(facts: Facts): string {
  return Object.entries(facts)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `  ${words(name).padEnd(20)} ${String(value)}`)
    .join('\n');
}

const words = (name: string): string =>
  /^[A-Z_]+$/.test(name) ? name : name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function modelFacts({ name, config }: DescribeTrainingOptions): Facts {
  const plain = name.replace(/^(hf|tinker):/, '');
  if (plain === 'nano') return { name, renderer: 'nano/1' };
  const asked = config.chatFormat;
  const isPath = name.startsWith('tinker://') || /^[./]|^runs\//.test(name);
  if (isPath) return { name, renderer: asked ?? 'as its run notes or its server says', thinks: null };
  const format = asked ?? playedFormat(plain);
  const thinks = thinksFirst(format);
  if (!KNOWN_MODELS.includes(plain)) return { name, renderer: format, thinks };
  const { family, contextTokens, parameters, activeParameters = parameters, licence } = modelFamily(plain);
  const billions = (count: number): string => `${(count / 1e9).toFixed(2)} B`;
  return {
    name,
    family,
    renderer: `${format}/safe`,
    thinks,
    parameters: `${billions(parameters)}, ${billions(activeParameters)} active`,
    contextTokens,
    licence,
  };
}

async function environmentFacts({ config }: DescribeTrainingOptions): Promise<Facts> {
  const { env, pool, sessions = 4, tool = 'browser_repl' } = config;
  const suite = WEB_SUITES.get(env);
  const isFile = env.startsWith(TASK_FILE);
  if (suite === undefined && !isFile) {
    const isPage = env === CLICK_CHECKBOXES || env === MINIWOB || env.startsWith(`${MINIWOB}/`);
    return isPage
      ? { name: env, tool: 'of its page', pages: config.pages ?? 16, replyTokens: config.maxActionTokens ?? 512 }
      : { name: env };
  }
  const limits = webLimits(config);
  if (config.contextLength !== undefined && limits.turnTokens >= config.contextLength) {
    throw new TabwrightError(
      'config',
      `Replies of ${limits.turnTokens} tokens leave nothing of a context of ${config.contextLength}: lower --turn-tokens.`,
      { code: 'no-room-for-pages' },
    );
  }
  // What a file holds is read when the environment is opened: the file may not be there yet.
  const { version = null, tasks = null, train = null, test = null } = suite?.describe() ?? {};
  return {
    name: env,
    version,
    tasks,
    train,
    test,
    tool,
    browsers:
      pool === undefined ? `${sessions} jailed ones of this machine` : `${sessions} asked of Kernel's pool ${pool}`,
    reward: config.reward ?? 'code',
    attention: isFile ? null : (outOfReach(config) ?? null),
    ...limits,
  };
}

/** Null where only opening the environment could tell. */
function testTasks({ train, test, tasks }: Facts, source: string): number | null {
  const split = source.split(':').at(-1);
  const count = split === 'train' ? train : split === 'test' ? test : split === 'all' ? tasks : undefined;
  return typeof count === 'number' ? count : null;
}

function keysOf({ config }: DescribeTrainingOptions, onServer: boolean): readonly string[] {
  const judged = (config.reward ?? 'code') !== 'code' && config.judgeBaseUrl === undefined;
  return [
    ...(onServer ? ['TINKER_API_KEY'] : []),
    ...(config.pool === undefined ? [] : ['KERNEL_API_KEY']),
    ...(judged ? [config.judgeModel?.startsWith('openai:') === true ? 'OPENAI_API_KEY' : 'OPENROUTER_API_KEY'] : []),
  ];
}
