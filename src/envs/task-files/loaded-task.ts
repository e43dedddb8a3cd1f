// What a task of somebody's file is once it has been read, whatever the file's format: where it starts, what is asked,
// what it needs, and how it is judged. Data only; addresses may hold placeholders such as `__SHOPPING__` until `withSites`.

import type { JsonObject, JsonValue } from '../../core/index.ts';

export const TASK_FORMATS = [
  'webarena',
  'webarena-verified',
  'webvoyager',
  'online-mind2web',
  'real',
  'webgym',
  'agent-auth',
  'tabwright',
] as const;
export type TaskFormat = (typeof TASK_FORMATS)[number];

export type LoadedTask = {
  /** Unique within a file that is right. */
  readonly id: string;
  /** The first is where the episode starts; further ones are tabs that are to be open beside it. */
  readonly startUrls: readonly [string, ...string[]];
  readonly instruction: string;
  /** As the file names it: tasks of one group are variants of one another. */
  readonly group?: string;
  /** As the file names it. */
  readonly split?: string;
  /** For counts: names of sites, or hosts. */
  readonly sites: readonly string[];
  readonly needs: TaskNeeds;
  /** All must hold. Empty: nobody has said how it is judged. */
  readonly checks: readonly Check[];
  /** What a judge of the whole goes by, instead of its own criteria. */
  readonly criteria?: string;
  /** For judges that go by facts. */
  readonly rubric?: readonly FactGroup[];
};

/** What has to be there before the episode; null and false where nothing is asked for. */
export type TaskNeeds = {
  readonly login: boolean;
  /** File with the cookies of somebody who is signed in. */
  readonly storageState: string | null;
  /** The sites must be brought back to their first state afterwards. */
  readonly reset: boolean;
  readonly geolocation: { readonly latitude: number; readonly longitude: number } | null;
  /** Pictures that belong to the instruction. */
  readonly images: readonly string[];
  /** Pages to open first, by the host, which set the site's state. */
  readonly setupUrls: readonly string[];
};

export const NO_NEEDS: TaskNeeds = {
  login: false,
  storageState: null,
  reset: false,
  geolocation: null,
  images: [],
  setupUrls: [],
};

export type Check =
  | { readonly kind: 'answer-text'; readonly rules: readonly TextRule[] }
  | { readonly kind: 'final-url'; readonly references: readonly string[]; readonly rule: 'contained' | 'exact' }
  | { readonly kind: 'page-content'; readonly targets: readonly PageTarget[] }
  | TypedAnswerCheck
  | NetworkCheck
  | { readonly kind: 'state'; readonly query: string; readonly expected: JsonValue; readonly stateUrl: string }
  | { readonly kind: 'judged'; readonly question: TaskQuestion }
  /** Known by name, and not to be had here. */
  | { readonly kind: 'unsupported'; readonly evaluator: string; readonly reason: string };

/** How a text is compared. Inner lists hold alternatives. `words`: a reference of one word is to be a word of the text. */
export type TextRule =
  | { readonly rule: 'exact'; readonly value: string }
  | { readonly rule: 'includes'; readonly values: readonly (readonly string[])[]; readonly words: boolean }
  | { readonly rule: 'excludes'; readonly values: readonly string[]; readonly words: boolean }
  /** `whole`: and holds nothing beside it. */
  | { readonly rule: 'one-of'; readonly values: readonly string[]; readonly whole?: true }
  | { readonly rule: 'numbers'; readonly values: readonly (readonly Inequality[])[] }
  /** To be decided by a judge: means the same as each reference. */
  | { readonly rule: 'means'; readonly values: readonly string[] }
  /** Says that it cannot be done: "N/A", or by a judge for the reason that is noted. */
  | { readonly rule: 'unachievable'; readonly reason: string };

export type Inequality = { readonly relation: '<' | '<=' | '==' | '>=' | '>'; readonly value: number };

export type PageTarget = {
  /** `last`: where the episode ended. `post-of-last`: the post that the last address is in. Else an address. */
  readonly page: 'last' | 'post-of-last' | { readonly url: string };
  /** An expression over `document`; empty: the whole page's source. */
  readonly locator: string;
  /** Run before it, in the frozen page. */
  readonly prepare: readonly string[];
  readonly rules: readonly TextRule[];
};

export type TypedAnswerCheck = {
  readonly kind: 'typed-answer';
  readonly taskType: string;
  readonly status: string;
  /** Null: nothing is to be retrieved. An entry that is a list holds alternatives. */
  readonly data: readonly JsonValue[] | null;
  readonly schema: JsonObject;
  readonly ordered: boolean;
};

export type NetworkCheck = {
  readonly kind: 'network';
  /** Alternatives; those that begin with ^ are patterns. */
  readonly urls: readonly string[];
  readonly method: string | null;
  readonly status: number | null;
  readonly headers: JsonObject;
  readonly query: JsonObject;
  readonly post: JsonObject;
  readonly response: JsonObject;
  readonly cookies: JsonObject;
  readonly querySchema: JsonObject;
  readonly postSchema: JsonObject;
  readonly ignoredQuery: readonly string[];
  /** Patterns over names. */
  readonly ignoredQueryPatterns: readonly string[];
  readonly ignoredPostPatterns: readonly string[];
  /** A query that is hidden in the path as base64 is looked at as a query. */
  readonly base64Query: boolean;
  readonly mustNotExist: boolean;
  readonly lastOnly: boolean;
  /** The last page that was opened counts, and no other request. */
  readonly lastNavigation: boolean;
};

/** What a judge is asked about the task as a whole; who asks adds the answer and what the host saw. */
export type TaskQuestion =
  /** Was the task done? `references`: answers that are known to be right, or possible. */
  | { readonly about: 'outcome'; readonly references: readonly string[]; readonly note: string }
  /** Does the answer meet the rubric, or, with `expected: false`, is it right that it does not? */
  | { readonly about: 'rubric'; readonly rubric: string; readonly expected: boolean }
  /** Are all facts established, and is the answer borne out by what was seen? */
  | { readonly about: 'facts'; readonly groups: readonly FactGroup[]; readonly answer: string };

export type FactGroup = { readonly id: string; readonly description: string; readonly facts: readonly string[] };
