// One episode as data, turn by turn. What is trained on is exactly what was sampled: ids are stored, text is only kept
// for people. Turns of models whose ids nobody here has seen carry a `ChatRecord` instead, so that they are another type,
// which nothing that trains accepts.

import type { Action } from './env.ts';
import type { JsonObject } from './json.ts';
import type { Outcome } from './outcome.ts';
import type { Task } from './task.ts';

/** What was sampled in one turn, token by token. */
export type TokenRecord = {
  readonly promptTokens: readonly number[];
  /** Sampled tokens, the stop token included. */
  readonly actionTokens: readonly number[];
  /** The sampler's log-probability of each action token, nats. */
  readonly logprobs: readonly number[];
  /** Optimiser steps behind the weights that sampled this turn. */
  readonly samplerVersion: number;
  readonly stop: 'stop' | 'length';
};

/** A call as a chat model wrote it. */
export type ChatCall = {
  readonly id: string;
  readonly name: string;
  /** Meant to be JSON; as it was written. */
  readonly arguments: string;
};

export type ChatReply = { readonly text: string; readonly calls: readonly ChatCall[] };

/** Tokens as an endpoint counts them. */
export type TokenUsage = { readonly promptTokens: number; readonly completionTokens: number };

/** What a chat model said in one turn. There are no ids to train on. */
export type ChatRecord = {
  readonly reply: ChatReply;
  readonly usage?: TokenUsage;
  /** US dollars, where the endpoint says what it charged. */
  readonly cost?: number;
  readonly stop: 'stop' | 'length';
};

/** One turn: what the policy produced (`R`), and what it did. */
export type Turn<R = TokenRecord> = R & {
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
  /** The same of what the action led to; see `StepResult.evidence`. */
  readonly evidence?: string;
};

export type Trajectory<R = TokenRecord> = {
  readonly task: Task;
  /** Position within its group, 0-based; 0 for single episodes. */
  readonly member: number;
  readonly turns: readonly Turn<R>[];
  readonly outcome: Outcome;
  readonly seconds: number;
};

/** Of whatever policy: to look at, not to train on. */
export type AnyTrajectory = Trajectory<TokenRecord> | Trajectory<ChatRecord>;

/** The rollouts of one task: every member saw the same instance. */
export type Group = { readonly task: Task; readonly trajectories: readonly Trajectory[] };
