// Environments of one's own: `--env custom:<file>`, a module that exports `createEnv`. It is code that runs with all rights
// of whoever names it; what it gives is checked only as far as a mistake would otherwise be told in other words.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { TabwrightError, type Env, type Task } from '../core/index.ts';
import { EVAL_FIRST_SEED } from '../experiments/index.ts';
import { contentHash } from './content-hash.ts';
import { environmentSettings, type EnvironmentSettings } from './environment-settings.ts';
import {
  policies,
  withoutEffect,
  type EnvironmentTask,
  type ModelFreePolicy,
  type OpenedEnvironment,
  type OpenEnvironmentOptions,
} from './opened-environment.ts';

export const CUSTOM = 'custom:';

const calls = z.custom<(...given: never) => unknown>((value) => typeof value === 'function', 'is no function');
const moduleSchema = z.looseObject({ createEnv: calls });
const envSchema = z.looseObject({
  name: z.string().min(1),
  capacity: z.int().positive(),
  maxActions: z.int().positive(),
  task: calls,
  open: calls,
});

export async function openCustomEnvironment({ config, signal }: OpenEnvironmentOptions): Promise<OpenedEnvironment> {
  for (const name of Object.keys(environmentSettings)) {
    if (name !== 'env' && config[name as keyof EnvironmentSettings] !== undefined) {
      throw withoutEffect(name, `not for ${config.env}, which has settings of its own`);
    }
  }
  const file = resolve(config.env.slice(CUSTOM.length));
  const { createEnv } = read(moduleSchema, await load(file), file) as {
    createEnv: (options: { readonly signal: AbortSignal }) => Env | Promise<Env>;
  };
  const env = await createEnv({ signal });
  let version: string;
  try {
    read(envSchema, env, `what createEnv of ${file} gives`);
    version = await versionOf(file);
  } catch (error) {
    await (env as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.(); // it may hold a browser all the same
    throw error;
  }
  const task: EnvironmentTask = {
    id: env.name,
    split: null,
    group: env.name,
    instance: (seed): Task => env.task(seed),
  };
  return {
    env,
    version,
    isSeeded: true,
    firstEvalSeed: EVAL_FIRST_SEED,
    tasks: () => [task],
    ...policies<ModelFreePolicy>(env.name, {}, (policy) => policy),
    reward: 'code',
    product: undefined,
    noted: { env: config.env },
    deadlines: {},
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  };
}

/** Of the module's own text, not of what it imports: figures of other code must not compare. */
async function versionOf(file: string): Promise<string> {
  return contentHash(await readFile(file, 'utf8'));
}

async function load(file: string): Promise<unknown> {
  try {
    return (await import(pathToFileURL(file).href)) as unknown;
  } catch (cause) {
    throw new TabwrightError('config', `${file} cannot be loaded as a module: ${(cause as Error).message}`, {
      code: 'custom-environment',
      details: { file },
      cause,
    });
  }
}

function read<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TabwrightError('config', `${what}: ${issue.path.join('.')} ${issue.message}.`, {
    code: 'custom-environment',
    details: { what, path: issue.path.join('.') },
  });
}
