// How an episode ended, frozen: what graders look at, and all that they look at. Data only.

import type { JsonObject, JsonValue } from '../../../core/index.ts';

export type Snapshot = {
  /** What the model says the result is; undefined where it gave no answer. */
  readonly answer: string | undefined;
  /** Address of the tab that was acted on last; undefined where it could not be seen. */
  readonly url: string | undefined;
  /** What page targets hold, by `targetKey`; null where the page has no such thing. */
  readonly texts: ReadonlyMap<string, string | null>;
  /** What a site says its state is, by the address that was asked. */
  readonly states: ReadonlyMap<string, JsonValue>;
  /** In the order in which they were sent; undefined where nobody wrote them down. */
  readonly network: readonly NetworkEvent[] | undefined;
};

export type NetworkEvent = {
  readonly url: string;
  readonly method: string;
  /** 0 where no answer came. */
  readonly status: number;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of the form or of the JSON object that was sent. */
  readonly post: JsonObject | null;
  /** More was sent than is looked at: its fields are not known. */
  readonly tooLong?: boolean;
  /** Nothing came back from a server, and whoever wrote it down would know: whether it was seen there is not certain. */
  readonly unanswered?: boolean;
  /** The answer where it is a JSON object. */
  readonly response: JsonObject | null;
  readonly cookies: Readonly<Record<string, string>>;
  /** A page was opened by it, and not a part of one. */
  readonly navigation: boolean;
};

export type CheckResult =
  | { readonly holds: boolean; readonly details: JsonObject }
  /** It holds if a judge says yes to all of it. */
  | { readonly ask: readonly JudgeQuestion[]; readonly details: JsonObject };

/** What a judge is asked. `answer` is the model's claim. */
export type JudgeQuestion =
  | {
      readonly about: 'same-meaning';
      readonly instruction: string;
      readonly reference: string;
      readonly answer: string;
    }
  | { readonly about: 'unachievable'; readonly instruction: string; readonly reason: string; readonly answer: string }
  | {
      readonly about: 'rubric';
      readonly instruction: string;
      readonly rubric: string;
      readonly expected: boolean;
      readonly answer: string;
    }
  | {
      readonly about: 'facts';
      readonly instruction: string;
      readonly groups: readonly {
        readonly id: string;
        readonly description: string;
        readonly facts: readonly string[];
      }[];
      /** The answer that is known to be right; empty where there is none. */
      readonly reference: string;
      readonly answer: string;
    }
  | {
      readonly about: 'outcome';
      readonly instruction: string;
      readonly references: readonly string[];
      readonly note: string;
      readonly answer: string;
    };
