// Who says whether an episode on a website was a success, by interface. A verifier gets what the host saw; what the model
// said of itself is a field of its own, a claim to be checked.

import type { InvalidOutcome, JsonObject, StopReason, Task } from '../../core/index.ts';
import type { ActionEntry, SessionLease } from '../../repl/index.ts';

export type EpisodeEnd = {
  readonly task: Task;
  readonly stop: StopReason;
  /** What the model says the result is; undefined where it gave no answer. */
  readonly answer: string | undefined;
  /** Everything that was done to the browser, by the host's own log; undefined where the host is somebody else's. */
  readonly actions: readonly ActionEntry[] | undefined;
  /** Pictures after each cell that acted, and of the end, oldest first, PNG. */
  readonly pictures: readonly Uint8Array[];
  /** The browser as the episode left it. */
  readonly session: SessionLease;
};

export type Verdict = {
  readonly success: boolean;
  readonly reward: number;
  /** What was seen, for failure analysis; never shown to the policy. */
  readonly details: JsonObject;
};

/** Throws `TabwrightError` (boundary `judge` or `env`) where it cannot say: the episode is invalid then, not failed. */
export type Verifier = (end: EpisodeEnd, options: { readonly signal: AbortSignal }) => Promise<Verdict>;

/** For tasks that nobody can check: an episode without a number, which enters no mean. */
export function notJudged(stop: StopReason): InvalidOutcome {
  return {
    kind: 'invalid',
    boundary: 'judge',
    code: 'not-judged',
    message: `The episode ended (${stop}), and there is nobody to judge it.`,
  };
}
