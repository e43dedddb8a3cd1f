// Environments whose pages one browser holds: click-checkboxes and MiniWoB++. Their instances come from seeds.

import { TabwrightError, type Task } from '../core/index.ts';
import {
  attachPolicy,
  CLICK_CHECKBOXES,
  CLICK_CHECKBOXES_POLICIES,
  createClickCheckboxesEnv,
  createMiniwobSuite,
  MINIWOB,
  MINIWOB_POLICIES,
  MINIWOB_TASKS,
  MINIWOB_VERSION,
  type ClickCheckboxesEnv,
} from '../envs/index.ts';
import { EVAL_FIRST_SEED } from '../experiments/index.ts';
import { websiteSettings, type EnvironmentSettings } from './environment-settings.ts';
import {
  policies,
  withoutEffect,
  type EnvironmentTask,
  type OpenedEnvironment,
  type OpenEnvironmentOptions,
} from './opened-environment.ts';

const PAGES = 16;
/** Of the page and its puzzles; figures of different versions do not compare. */
const CLICK_CHECKBOXES_VERSION = '1';

export async function openClickCheckboxes(
  options: OpenEnvironmentOptions,
): Promise<OpenedEnvironment & { readonly env: ClickCheckboxesEnv }> {
  const { config, signal } = options;
  refuseWebsiteSettings(config);
  const pages = config.pages ?? PAGES;
  const env = await createClickCheckboxesEnv({ pages, signal });
  const task: EnvironmentTask = {
    id: CLICK_CHECKBOXES,
    split: null,
    group: CLICK_CHECKBOXES,
    instance: (seed) => env.task(seed),
  };
  return {
    env,
    version: CLICK_CHECKBOXES_VERSION,
    isSeeded: true,
    firstEvalSeed: EVAL_FIRST_SEED,
    tasks: () => [task],
    ...policies(CLICK_CHECKBOXES, CLICK_CHECKBOXES_POLICIES, (policy) => attachPolicy(env, policy)),
    reward: 'code',
    product: env.browser.product,
    noted: { env: CLICK_CHECKBOXES, pages },
    deadlines: {},
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  };
}

export async function openMiniwob({
  config,
  draws = 'train',
  signal,
}: OpenEnvironmentOptions): Promise<OpenedEnvironment> {
  refuseWebsiteSettings(config);
  const pages = config.pages ?? PAGES;
  const only = config.env === MINIWOB ? undefined : config.env.slice(MINIWOB.length + 1);
  if (only !== undefined && !MINIWOB_TASKS.some(({ name }) => name === only)) {
    throw new TabwrightError('config', `--env ${config.env}: MiniWoB++ has no task "${only}".`, {
      code: 'unknown-environment',
      details: { env: config.env },
    });
  }
  const suite = await createMiniwobSuite({ pages, signal });
  const env = suite.env(only === undefined ? 'all' : [only]);
  // Episodes of any task can be opened; which ones training draws is its own choice.
  const drawn = only === undefined ? suite.env(draws) : env;
  const rows: readonly EnvironmentTask[] = MINIWOB_TASKS.filter(({ name }) => only === undefined || name === only).map(
    ({ name, split }) => ({
      id: name,
      split: only === undefined ? split : null,
      group: name,
      instance: (seed): Task => ({
        ...env.task(seed),
        id: `${MINIWOB}/${name}/${seed}`,
        instruction: `Do what the page of ${name} asks for.`, // the page words it: see `Episode.instruction`
        params: { task: name, pageSeed: seed },
      }),
    }),
  );
  return {
    env: { ...env, task: (seed) => drawn.task(seed) },
    version: MINIWOB_VERSION,
    isSeeded: true,
    // Training draws the pages' seeds below this.
    firstEvalSeed: EVAL_FIRST_SEED,
    tasks: (split) => rows.filter((row) => split === 'all' || row.split === null || row.split === split),
    ...policies(env.name, MINIWOB_POLICIES, (policy) => attachPolicy(env, policy)),
    reward: 'code',
    product: suite.browser.product,
    noted: { env: env.name, pages },
    deadlines: {},
    [Symbol.asyncDispose]: () => suite[Symbol.asyncDispose](),
  };
}

function refuseWebsiteSettings(config: EnvironmentSettings): void {
  for (const name of Object.keys(websiteSettings)) {
    const value = config[name as keyof EnvironmentSettings];
    if (value !== undefined && value !== 'code') throw withoutEffect(name, `for websites, not for ${config.env}`);
  }
}
