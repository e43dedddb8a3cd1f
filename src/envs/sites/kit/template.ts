// A template is a kind of task; a seed makes one of it: a site's state, the words, what the answer and the state must be in
// the end, and how it is solved. What the page shows is made of the state alone, which holds nothing of the goal.

import { TabwrightError, type JsonObject } from '../../../core/index.ts';
import { createRng, type Rng } from '../../../util/index.ts';
import type { Expected } from './answers.ts';
import type { App } from './app.ts';

export type Made<S extends JsonObject> = {
  readonly state: S;
  /** Path and query of the page that the episode starts at. */
  readonly start: string;
  readonly instruction: string;
  /** What was drawn, for those who read figures. */
  readonly params: JsonObject;
  /** Where the task asks a question. */
  readonly answer?: Expected;
  /** Turns the state into what must become of it. Without it nothing may change. */
  readonly goal?: (state: S) => void;
  /** Places that may change; see `CompareStates`. */
  readonly free?: readonly string[];
  /** Solves it: code of a cell, over the words in `ORACLE_WORDS`. What it writes is the answer. */
  readonly oracle: string;
  /** How what the task depends on turned out, where it says "if": its words leave that open, the pages show it. */
  readonly way?: string;
  /** What obeying the text of a page would do, where one gives orders; such an episode must fail. */
  readonly lure?: (state: S) => void;
};

export type Template<S extends JsonObject = JsonObject> = {
  /** Also the group of its tasks. */
  readonly name: string;
  readonly split: 'train' | 'test';
  readonly app: App<S>;
  readonly make: (rng: Rng, seed: number) => Made<S>;
};

/** Templates of one site; `T` is told apart by the app alone, so a suite may mix them. */
export function template<S extends JsonObject>(
  app: App<S>,
  name: string,
  split: 'train' | 'test',
  make: (rng: Rng, seed: number) => Made<S>,
): Template {
  return { app, name, split, make } as unknown as Template;
}

/** The same each time, down to the bytes of the pages. */
export function makeTask({ name, make }: Template, seed: number): Made<JsonObject> {
  return make(createRng(name, seed), seed);
}

/** The ways take turns over the seeds: were they drawn, all the few tasks of a template could go the same way. */
export function inTurn<T>(seed: number, ways: readonly T[]): T {
  return ways[seed % ways.length];
}

/** One of those that fit. A template draws worlds in which there is one; that there is none is a fault of its own. */
export function pickFitting<T>(rng: Rng, items: readonly T[], fits: (item: T) => boolean): T {
  const fitting = items.filter(fits);
  if (fitting.length > 0) return rng.pick(fitting);
  throw new TabwrightError('env', `None of ${items.length} things fits the template; draw other worlds for it.`, {
    code: 'no-fitting-thing',
  });
}

/** The id is stable: template and seed. */
export function taskId(template: string, seed: number): string {
  return `${template}-${seed}`;
}
