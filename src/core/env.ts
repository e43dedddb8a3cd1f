// What an environment is to the rest of the system: it opens single-use episodes, an episode answers actions
// with observations and, at the end, with an outcome. Nothing here knows of browsers or models.

import type { JsonObject } from './json.ts';
import type { FinishedOutcome, InvalidOutcome, Outcome, StopReason } from './outcome.ts';
import type { Task } from './task.ts';

/** What a model may call. `parameters` is a JSON schema. */
export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
};

/** What the policy said, parsed. A malformed reply is an action too: it is answered, and it counts. */
export type Action =
  | { readonly kind: 'call'; readonly tool: string; readonly args: JsonObject }
  | { readonly kind: 'malformed'; readonly problem: string; readonly text: string }
  /** A reply without a call, where that ends the episode: what the policy says the result is. A claim, not a fact. */
  | { readonly kind: 'answer'; readonly text: string };

/** What the agent sees. */
export type Observation = {
  /** The page as text: the accessibility tree, one line a control. */
  readonly page: string;
  /** Answer to the last action where there is something to say: what was wrong, or what happened. */
  readonly notice?: string;
};

export type StepResult = {
  readonly observation: Observation;
  /** False when the page looks as it did before the action. */
  readonly changed: boolean;
  /** Facts about the action for analysis and replay (what was hit, what it was); never shown to the policy. */
  readonly info: JsonObject;
  /** PNG of what the action led to, taken by the environment for judges; never shown to the policy. */
  readonly evidence?: Uint8Array;
  /** Present when the episode is over. */
  readonly outcome?: FinishedOutcome;
  /** Instead of `outcome` when it is over and nobody can say how it went, e.g. because a judge failed. */
  readonly invalid?: InvalidOutcome;
};

export type StepOptions = { readonly signal: AbortSignal };

/** One attempt at one task. Single use; disposing it gives its page back. */
export interface Episode extends AsyncDisposable {
  readonly tools: readonly ToolSpec[];
  /** The task's words where only its page knows them: they stand for those of the task. */
  readonly instruction?: string;
  /** What the agent sees before its first action. */
  readonly first: Observation;
  /** Carries out one action. Throws `TabwrightError` (boundary `browser` or `env`) on infrastructure failure only. */
  step(action: Action, options: StepOptions): Promise<StepResult>;
  /** PNG of what the agent sees now; rejects when the environment has no pictures. */
  screenshot(options: StepOptions): Promise<Uint8Array>;
  /** Ends it because the policy may say no more. Environments without it cannot be run under a budget of tokens. */
  giveUp?(stop: StopReason, options: StepOptions): Promise<GivenUp>;
}

/** How an episode ended that its policy did not end, with facts for its last turn; see `StepResult.info`. */
export type GivenUp = { readonly outcome: Outcome; readonly info: JsonObject };

/** Opens episodes. Implementations own their browsers and servers and release them when disposed. */
export interface Env extends AsyncDisposable {
  readonly name: string;
  /** How many episodes may be open at once; `open` waits beyond that. */
  readonly capacity: number;
  /** Episodes end with stop `max_actions` after this many actions. */
  readonly maxActions: number;
  /** The instance of a seed. Pure: same seed, same task. */
  task(seed: number): Task;
  open(task: Task, options: StepOptions): Promise<Episode>;
}
