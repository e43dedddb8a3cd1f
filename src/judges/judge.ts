// What a judge is: it gets what the host saw of an episode and says success, failure, or that it cannot say. The third is
// no failure: whoever asked must leave the episode out, and count it.

import type { JsonObject } from '../core/index.ts';
import type { JudgeSpending } from './spending.ts';

/** A named group of facts that have to hold, as task files of the rubric kind have them. */
export type RubricGroup = { readonly id: string; readonly description: string; readonly facts: readonly string[] };

/**
 * Made by the host alone. `actions`, `pages` and `answer` hold words of pages and of the one who is judged; judges get to
 * see those between fences only.
 */
export type JudgeInput = {
  readonly instruction: string;
  readonly startUrl?: string;
  /** Why the episode ended, e.g. `answered`. */
  readonly stop: string;
  /** The host's log, one line an action, oldest first; undefined where the host is somebody else's. */
  readonly actions: readonly string[] | undefined;
  /** Pictures that the host took, oldest first: PNG, JPEG or WebP. */
  readonly pictures: readonly Uint8Array[];
  /** Text of pages that the host read, oldest first, where an environment has it. */
  readonly pages?: readonly { readonly url: string; readonly text: string }[];
  /** What the one who is judged says the result is: a claim to check. */
  readonly answer: string | undefined;
  /** What counts for this task, instead of a judge's own criteria. */
  readonly criteria?: string;
  /** For rubric judges. */
  readonly rubric?: readonly RubricGroup[];
};

export type Judgement = {
  /** What the verdict was made of: scores, points, which pictures were shown. JSON. */
  readonly details: JsonObject;
  /** Of this judgement; nothing where it came from the cache. */
  readonly spending: JudgeSpending;
  readonly cached: boolean;
} & (
  | { readonly verdict: 'success' | 'failure'; readonly reasoning: string }
  /** `code` in kebab-case, e.g. `judge-bad-reply`, `judge-blocked`, `chat-timeout`; `reason` for people. */
  | { readonly verdict: 'invalid'; readonly code: string; readonly reason: string }
);

export type JudgeKind = 'webjudge' | 'rubric' | 'outcome';

export interface Judge {
  readonly kind: JudgeKind;
  /** Kind, model and a short hash of everything else that a verdict depends on: other prompts or settings, another id. */
  readonly id: string;
  /** SHA-256 of all its prompts, reply schemas included. */
  readonly promptHash: string;
  readonly model: string;
  /** Longest that a judgement takes, milliseconds. */
  readonly deadlineMs: number;
  /** Over all judgements so far. */
  spent(): JudgeSpending;
  /** Rejects on abort and where the configuration is wrong (a key, an unknown model); all else is `invalid`. */
  judge(input: JudgeInput, options: { readonly signal: AbortSignal }): Promise<Judgement>;
}
