// The environment `web-task`: any website, one tool (`browser_repl`), an answer in words. Sessions come from a provider,
// so where the browser is and whether it is jailed is decided elsewhere. Who judges comes in as a verifier.

import { createHash } from 'node:crypto';
import { TabwrightError, type Env, type Task } from '../../core/index.ts';
import type { SessionLease, SessionProvider } from '../../repl/index.ts';
import { webTaskConfigSchema, type WebTaskConfig } from './config.ts';
import { openWebEpisode } from './episode.ts';
import { judgingParams, type TaskJudging } from './task-judging.ts';
import type { Verifier } from './verifier.ts';

export const WEB_TASK = 'web-task';

export type WebTaskSpec = TaskJudging & {
  readonly url: string;
  readonly instruction: string;
  /** Unique within the list. Default: made of url and instruction. */
  readonly id?: string;
};

/** What one episode has to itself beside its browser: state on a server, and who judges it. */
export interface WebInstance extends AsyncDisposable {
  /** Where the episode starts; may lead on to the task's own address. */
  readonly startUrl: string;
  readonly verify: Verifier;
}

/** Without a verifier of its own the environment's judges it. */
export type BegunEpisode = Omit<WebInstance, 'verify'> & Partial<Pick<WebInstance, 'verify'>>;

export type BeginOptions = {
  readonly signal: AbortSignal;
  /** The episode's browser, before its first page. */
  readonly session: SessionLease;
};

export type WebTaskEnvOptions = {
  /** Of the environment, and first part of its tasks' ids. Default `web-task`. */
  readonly name?: string;
  /** Given to the environment: disposed with it. */
  readonly provider: SessionProvider;
  /** `task(seed)` is the one at `seed`, again and again from the first. */
  readonly tasks: readonly WebTaskSpec[];
  /** Episodes open at once: as many as the provider has sessions. */
  readonly capacity: number;
  readonly config?: Partial<WebTaskConfig>;
  /** Default: nobody; episodes end without a number then. */
  readonly verify?: Verifier;
  /** Called before each episode, with its task's id without the environment's name; stands for `verify`. */
  readonly begin?: (id: string, options: BeginOptions) => Promise<BegunEpisode>;
  /** Milliseconds that a session may take to be had. Default 120,000. */
  readonly acquireMs?: number;
};

export function createWebTaskEnv(options: WebTaskEnvOptions): Env {
  const { provider, tasks, capacity, begin, acquireMs = 120_000, name = WEB_TASK } = options;
  const config = webTaskConfigSchema.parse(options.config ?? {});
  if (tasks.length === 0) throw new TabwrightError('config', 'There are no web tasks.', { code: 'no-tasks' });
  return {
    name,
    capacity,
    maxActions: config.maxTurns,
    task: (seed) => webTask(tasks[seed % tasks.length], { seed, env: name }),
    async open(task, { signal }) {
      const { startUrl } = task;
      if (task.env !== name || startUrl === undefined) {
        throw new TabwrightError('env', `the task ${task.id} is of ${task.env}, not of ${name} with a start page`, {
          code: 'wrong-env',
          details: { task: task.id, env: task.env },
        });
      }
      const lease = await provider.acquire({ signal, deadlineMs: acquireMs });
      let instance: BegunEpisode | undefined;
      try {
        instance = await begin?.(task.id.slice(name.length + 1), { signal, session: lease });
        const verify = instance?.verify ?? options.verify;
        return await openWebEpisode({
          task: { ...task, startUrl: instance?.startUrl ?? startUrl },
          lease,
          config,
          signal,
          ...(verify === undefined ? {} : { verify }),
          ...(instance === undefined ? {} : { instance }),
        });
      } catch (error) {
        await instance?.[Symbol.asyncDispose]();
        await lease[Symbol.asyncDispose]();
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

export function webTask(
  { url, instruction, id, criteria, rubric }: WebTaskSpec,
  { seed = 0, env = WEB_TASK }: { readonly seed?: number; readonly env?: string } = {},
): Task {
  const name = id ?? createHash('sha256').update(`${url}\n${instruction}`).digest('hex').slice(0, 12);
  const params = judgingParams({ criteria, rubric });
  return {
    id: `${env}/${name}`,
    env,
    instruction,
    seed,
    startUrl: url,
    ...(Object.keys(params).length === 0 ? {} : { params }),
  };
}
