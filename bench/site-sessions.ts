// Browsers for episodes on sites of our own that play many one after the other as they are, and the limits of those episodes.
// What takes long is waited for: a machine that does other things beside is no failure of whoever plays.

import { locateChromium } from '../src/browser/index.ts';
import { jailFor } from '../src/cli/local-browsers.ts';
import { createWebTaskEnv, type WebSuite, type WebTaskEnvOptions } from '../src/envs/index.ts';
import { createLocalProvider, type SessionProvider } from '../src/repl/index.ts';
import type { EgressRule } from '../src/sandbox/index.ts';
import { keepSessions } from './kept-sessions.ts';

export const ACQUIRE_MS = 600_000;
export const CELL_SECONDS = 300;
export const PATIENT_DEADLINES = {
  openMs: ACQUIRE_MS + 200_000,
  operationMs: 600_000,
  turnMs: 800_000,
  episodeMs: 2_400_000,
  runMs: 6 * 3_600_000,
};

export type SiteSessionsOptions = {
  readonly egress: readonly EgressRule[];
  readonly sessions: number;
  readonly unsafeLocal?: boolean;
  readonly signal: AbortSignal;
};

/** The shell does half the work of the browser that people use. */
export async function openSiteSessions(options: SiteSessionsOptions): Promise<SessionProvider> {
  const { egress, sessions, unsafeLocal = false, signal } = options;
  return keepSessions(
    createLocalProvider({
      jail: await jailFor(unsafeLocal, signal),
      location: await locateChromium({ prefer: 'headless-shell', signal }),
      egress,
      sessions,
      episodes: 1_000,
      cell: { profile: 'train' },
    }),
  );
}

export type SuiteEnvOptions = {
  readonly suite: WebSuite;
  readonly provider: SessionProvider;
  readonly tasks: WebTaskEnvOptions['tasks'];
  readonly sessions: number;
};

/** A suite's tasks in browsers that stay open for the next environment: closing this one does not close the provider. */
export function openSuiteEnv({
  suite,
  provider,
  tasks,
  sessions,
}: SuiteEnvOptions): ReturnType<typeof createWebTaskEnv> {
  return createWebTaskEnv({
    name: suite.description.name,
    provider: { kind: provider.kind, acquire: (wait) => provider.acquire(wait), async [Symbol.asyncDispose]() {} },
    tasks,
    capacity: sessions,
    acquireMs: ACQUIRE_MS,
    config: { cellSeconds: CELL_SECONDS },
    begin: (id, call) => suite.begin(id, call),
  });
}
