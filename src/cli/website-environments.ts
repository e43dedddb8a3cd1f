// Environments whose tasks are on websites: a session of the Browser REPL for each episode, from this machine or a pool.

import type { JsonObject } from '../core/index.ts';
import { createWebTaskEnv, webTask, type WebTaskConfig } from '../envs/index.ts';
import type { Deadlines } from '../rollout/index.ts';
import { egressRules } from './egress-option.ts';
import { pageSettings, webLimits } from './environment-settings.ts';
import {
  policies,
  withoutEffect,
  type EnvironmentTask,
  type OpenedEnvironment,
  type OpenEnvironmentOptions,
} from './opened-environment.ts';
import { browserProduct, openProvider } from './session-provider.ts';
import type { OpenWebSuite } from './web-suites.ts';

const SESSIONS = 4;

export async function openWebSuiteEnvironment(
  open: OpenWebSuite,
  { config, draws = 'train', signal }: OpenEnvironmentOptions,
): Promise<OpenedEnvironment> {
  for (const name of Object.keys(pageSettings)) {
    if (config[name as keyof typeof pageSettings] !== undefined)
      throw withoutEffect(name, `for pages of one browser; ${config.env} has --sessions`);
  }
  const { sessions = SESSIONS, pool, allow, profile = 'train', unsafeLocal = false, env: name } = config;
  const limits = webLimits(config);
  const suite = await open({ signal });
  try {
    const egress = [...suite.egress, ...(allow === undefined ? [] : egressRules(allow))];
    const provider = await openProvider({ pool, sessions, egress, profile, unsafeLocal, signal });
    const env = createWebTaskEnv({
      name,
      provider,
      tasks: suite.tasks.filter(({ split }) => draws === 'all' || split === draws),
      capacity: sessions,
      config: limits,
      begin: (id, at) => suite.begin(id, at),
    });
    try {
      const rows = suite.tasks.map((task): EnvironmentTask => {
        const { id, split, group } = task;
        return { id, split, group, instance: (seed) => webTask(task, { seed, env: name }) };
      });
      const where: JsonObject = pool === undefined ? { profile, unsafeLocal } : { pool };
      return {
        env,
        version: suite.description.version,
        isSeeded: false,
        firstEvalSeed: 0,
        tasks: (split) => rows.filter((row) => split === 'all' || row.split === split),
        ...policies(name, suite.policies, (actor) => ({ env, actor })),
        reward: 'code',
        turnTokens: limits.turnTokens,
        tokenBudget: limits.trajectoryTokens,
        product: await browserProduct(provider, signal),
        noted: {
          env: name,
          sessions,
          ...where,
          ...(allow === undefined ? {} : { allow }),
          tool: 'browser_repl',
          ...limits,
        },
        deadlines: webDeadlines(limits),
        async [Symbol.asyncDispose]() {
          await env[Symbol.asyncDispose]();
          await suite[Symbol.asyncDispose]();
        },
      };
    } catch (error) {
      await env[Symbol.asyncDispose]();
      throw error;
    }
  } catch (error) {
    await suite[Symbol.asyncDispose]();
    throw error;
  }
}

/** A reply and the cell that it asks for, each with what it takes beside its own deadline. */
export function webDeadlines({ cellSeconds, maxTurns }: Pick<WebTaskConfig, 'cellSeconds' | 'maxTurns'>): Deadlines {
  const operationMs = Math.max(200_000, cellSeconds * 1000 + 60_000);
  const turnMs = operationMs + 200_000;
  const episodeMs = turnMs * (maxTurns + 1);
  return { operationMs, turnMs, episodeMs, runMs: episodeMs + turnMs };
}
