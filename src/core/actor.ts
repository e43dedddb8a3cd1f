// Whoever acts in an episode: a policy that samples tokens, a chat endpoint, a script. An actor is asked turn by turn and
// keeps nothing between turns, so one actor plays any number of episodes at a time. `R` is what it leaves of each turn in
// the trajectory: tokens to train on, or none.

import type { Action, Observation, ToolSpec } from './env.ts';
import type { TokenUsage } from './trajectory.ts';

export type ActorConversation<R> = {
  readonly instruction: string;
  readonly tools: readonly ToolSpec[];
  /** Earlier turns, oldest first: what was seen, and what was made of it. */
  readonly past: readonly { readonly observation: Observation; readonly action: Action; readonly record: R }[];
  /** What the agent sees now. */
  readonly observation: Observation;
};

export type ActOptions = {
  readonly signal: AbortSignal;
  /** Fixes the draw where the actor draws by seeds. */
  readonly seed: number;
};

export type Act<R> = {
  readonly action: Action;
  readonly record: R;
  /** Undefined where it is not known. */
  readonly usage: TokenUsage | undefined;
};

export interface Actor<R> {
  /** Recorded in the run's config. */
  readonly name: string;
  /** Throws `TabwrightError` (boundary `backend`) on infrastructure failure; whatever was said wrong is a malformed action. */
  act(conversation: ActorConversation<R>, options: ActOptions): Promise<Act<R>>;
}
