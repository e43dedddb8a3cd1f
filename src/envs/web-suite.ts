// What a suite of tasks on websites is to those who play, train or measure on it: tasks as data, what browsers must be
// allowed to reach, an instance of a task's site for each episode, and policies that need no model.

import type { Actor, ChatRecord } from '../core/index.ts';
import type { EgressRule } from '../sandbox/index.ts';
import type { SuiteDescription } from './suite-description.ts';
import type { WebInstance, WebTaskSpec } from './web-task/index.ts';

export type WebSuiteTask = WebTaskSpec & {
  /** Unique within the suite and stable over versions, without the suite's name. */
  readonly id: string;
  readonly split: 'train' | 'test';
  /** Tasks of one group look or work alike: a split never divides a group. */
  readonly group: string;
};

export interface WebSuite extends AsyncDisposable {
  readonly description: SuiteDescription;
  readonly tasks: readonly WebSuiteTask[];
  /** Hosts of the sites, pinned to where they are served: what a jailed browser needs to get there. */
  readonly egress: readonly EgressRule[];
  /** State of its own for one episode; `id` is a task's. */
  begin(id: string, options: { readonly signal: AbortSignal }): Promise<WebInstance>;
  /** `oracle` solves by acting on the page, `noop` answers at once with nothing, `blind` answers without looking. */
  readonly policies: Readonly<Record<'oracle' | 'noop' | 'blind', Actor<ChatRecord>>>;
}
