// How an episode ended. `invalid` is a separate arm of the union: an infrastructure failure carries no
// success and no reward, so it cannot be averaged into anything by accident.

import type { Boundary } from './errors.ts';
import type { JsonObject } from './json.ts';

/** Why the agent stopped acting; `malformed`: too many replies in a row that could not be read. */
export type StopReason = 'submitted' | 'max_actions' | 'answered' | 'malformed' | 'token_budget';

export type FinishedOutcome = {
  readonly kind: 'finished';
  /** Exact success by the task's own predicate. The headline figure. */
  readonly success: boolean;
  /** Raw, possibly shaped reward in the environment's own units. */
  readonly reward: number;
  readonly stop: StopReason;
  /** A limit ended it, so it is no success and its reward at most 0; `details.graded` is what it would have been. */
  readonly clamped?: true;
  /** What the verifier saw, for failure analysis; never shown to the policy. */
  readonly details: JsonObject;
};

export type InvalidOutcome = {
  readonly kind: 'invalid';
  /** The boundary that failed. */
  readonly boundary: Boundary;
  readonly code: string;
  readonly message: string;
};

export type Outcome = FinishedOutcome | InvalidOutcome;
