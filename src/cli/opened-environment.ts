// What an environment is to a command once it is open: its tasks, the policies that need no model, and what a run notes of
// it. Types and two helpers for whoever opens one.

import { TabwrightError, type Actor, type ChatRecord, type Env, type JsonObject, type Task } from '../core/index.ts';
import type { Judge } from '../judges/index.ts';
import type { Deadlines } from '../rollout/index.ts';
import type { EnvironmentSettings } from './environment-settings.ts';

/** Something that can be played again and again: an instance is a task. */
export type EnvironmentTask = {
  /** Unique within the environment, without its name. */
  readonly id: string;
  /** Null where the tasks are not divided: one page whose halves are ranges of seeds, or a file. */
  readonly split: 'train' | 'test' | null;
  /** Tasks of one group look or work alike. */
  readonly group: string;
  /** Where the environment is not seeded every seed gives the same instance. */
  instance(seed: number): Task;
};

export type Split = 'train' | 'test' | 'all';

/** Who judges, for figures that name it. */
export type JudgeFacts = Pick<Judge, 'id' | 'model' | 'promptHash' | 'deadlineMs'> & { readonly kind: string };

/** The environment itself may be another one than `OpenedEnvironment.env`: oracles need one of their own. */
export type ModelFreePolicy = { readonly env: Env; readonly actor: Actor<ChatRecord> };

export interface OpenedEnvironment extends AsyncDisposable {
  /** `env.task(seed)` is a training task. */
  readonly env: Env;
  readonly version: string;
  /** Whether seeds give instances of a task that differ. */
  readonly isSeeded: boolean;
  /** First of the seeds that evaluations use: training never draws them. */
  readonly firstEvalSeed: number;
  /** In a fixed order. */
  tasks(split: Split): readonly EnvironmentTask[];
  readonly policyNames: readonly string[];
  /** Policies without a model, such as `oracle`. */
  policy(name: string): ModelFreePolicy;
  /** Who says what is a success: `code`, `nobody`, or a judge with its model. It goes with every figure. */
  readonly reward: string;
  /** Where one says it, alone or where code asks it. */
  readonly judge?: JudgeFacts;
  /** Most tokens of a reply, for models that are asked for it each time. */
  readonly turnTokens?: number;
  /** Of a conversation; for rollouts. */
  readonly tokenBudget?: number;
  /** What the browser calls itself; undefined where there is none. */
  readonly product: string | undefined;
  /** For the run's config. */
  readonly noted: JsonObject;
  readonly deadlines: Partial<Deadlines>;
}

export type OpenEnvironmentOptions = {
  readonly config: EnvironmentSettings;
  /** Tasks that `env.task(seed)` draws from. Default `train`. */
  readonly draws?: Split;
  readonly signal: AbortSignal;
};

/** By name; one that is not there is told with those that are. */
export function policies<P>(
  env: string,
  known: Readonly<Record<string, P>>,
  attach: (policy: P) => ModelFreePolicy,
): Pick<OpenedEnvironment, 'policyNames' | 'policy'> {
  const policyNames = Object.keys(known);
  return {
    policyNames,
    policy(name) {
      if (policyNames.includes(name)) return attach(known[name]);
      throw new TabwrightError('config', `${env} has no policy "${name}"; it has ${policyNames.join(', ')}.`, {
        code: 'unknown-policy',
        details: { env, name, policyNames },
      });
    },
  };
}

/** A flag that would be without effect is a mistake. */
export function withoutEffect(name: string, why: string): TabwrightError {
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return new TabwrightError('config', `${flag} is ${why}.`, { code: 'option-without-effect', details: { flag } });
}
