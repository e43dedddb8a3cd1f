// What the tool's server is made with, whatever it speaks over.

import type { OpenSession } from '../repl-session.ts';

export type McpSettings = {
  readonly openSession: OpenSession;
  /** Of this package. */
  readonly version: string;
  /** What the model is told the tool does. */
  readonly description: string;
  /** Browsers at one time; default 4. */
  readonly maxSessions?: number;
  /** Milliseconds without a cell after which a browser is ended; default 600,000. */
  readonly idleMs?: number;
};
