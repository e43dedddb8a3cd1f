// One episode as data, token by token. What is trained on is exactly what was sampled: ids are stored, text is
// only kept for people.

import type { Action } from './env.ts';
import type { JsonObject } from './json.ts';
import type { Outcome } from './outcome.ts';
import type { Task } from './task.ts';

export type Turn = {
  readonly promptTokens: readonly number[];
  /** Sampled tokens, the stop token included. */
  readonly actionTokens: readonly number[];
  /** The sampler's log-probability of each action token, nats. */
  readonly logprobs: readonly number[];
  /** Optimiser steps behind the weights that sampled this turn. */
  readonly samplerVersion: number;
  readonly stop: 'stop' | 'length';
  readonly action: Action;
  /** The page the action was chosen on, as text. */
  readonly page: string;
  /** The page after the action, as text. */
  readonly nextPage: string;
  /** What the environment answered, if it had something to say. */
  readonly notice?: string;
  /** False when the page looked the same afterwards. */
  readonly changed: boolean;
  /** Facts from the environment about the action; see `StepResult.info`. */
  readonly info: JsonObject;
  /** File name of a picture of the page before the action, relative to the run's `rollouts/screenshots`. */
  readonly screenshot?: string;
};

export type Trajectory = {
  readonly task: Task;
  /** Position within its group, 0-based; 0 for single episodes. */
  readonly member: number;
  readonly turns: readonly Turn[];
  readonly outcome: Outcome;
  readonly seconds: number;
};

/** The rollouts of one task: every member saw the same instance. */
export type Group = { readonly task: Task; readonly trajectories: readonly Trajectory[] };
