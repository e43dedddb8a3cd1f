// A task is data: what one episode is about. It holds no behaviour and no answer.

import type { JsonObject } from './json.ts';

export type Task = {
  /** Unique within its suite; equal ids mean the same instance, e.g. `click-checkboxes/1000017`. */
  readonly id: string;
  /** Name of the environment that understands it. */
  readonly env: string;
  /** What the agent is asked to do, in words. */
  readonly instruction: string;
  /** Fixes the instance; all members of a group share it. */
  readonly seed: number;
  readonly startUrl?: string;
  readonly params?: JsonObject;
};
