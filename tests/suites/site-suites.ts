// Plays tasks of the suites on our sites for tests: real Chromium, warm sessions that serve many episodes.

import { keepSessions } from '../../bench/kept-sessions.ts';
import { locateChromium } from '../../src/browser/index.ts';
import { createWebTaskEnv, type WebSuite } from '../../src/envs/index.ts';
import { createLocalProvider } from '../../src/repl/index.ts';
import { runActorEpisodes } from '../../src/rollout/index.ts';
import type { Actor, ChatRecord, Env, Trajectory } from '../../src/core/index.ts';
import { probe } from '../sandbox/jail.ts';

/** Half the work of the browser that people use, which is the default and plays where sessions are not kept. */
const location = await locateChromium({ prefer: 'headless-shell' });

/** Episodes at once: as many as there are processors where tests run. */
const SESSIONS = 2;

/** A machine that does other things beside is no failure. */
const DEADLINES = { openMs: 150_000, operationMs: 150_000, turnMs: 200_000, episodeMs: 600_000 };

export type PlayedSuiteOptions = {
  /** Default: all. */
  readonly ids?: readonly string[];
  /**
   * Whether a session goes from one episode to the next as it is. Each has an instance of its own on the server all the
   * same, and making a browser as new costs more than most oracles. Default: it is made as new.
   */
  readonly kept?: boolean;
};

/** Gives its browsers back when it is disposed; the suite stays. */
export function playedSuite(suite: WebSuite, { ids, kept = false }: PlayedSuiteOptions = {}): Env {
  const tasks = ids === undefined ? suite.tasks : suite.tasks.filter(({ id }) => ids.includes(id));
  const provider = createLocalProvider({
    ...(kept ? { location } : {}),
    jail: probe.available ? probe : 'unsafe-local',
    egress: suite.egress,
    sessions: SESSIONS,
    episodes: 1_000,
    // What models in training are given: an oracle that needs more would show nothing.
    cell: { profile: 'train' },
  });
  return createWebTaskEnv({
    name: suite.description.name,
    provider: kept ? keepSessions(provider) : provider,
    tasks,
    capacity: SESSIONS,
    config: { cellSeconds: 120 },
    begin: (id, options) => suite.begin(id, options),
  });
}

export async function play(
  env: Env,
  actor: Actor<ChatRecord>,
  count: number,
): Promise<readonly Trajectory<ChatRecord>[]> {
  const { trajectories } = await runActorEpisodes(
    Array.from({ length: count }, (_, seed) => ({ task: env.task(seed), member: 0 })),
    { env, actor, runSeed: 1, stage: 'eval', deadlines: DEADLINES, signal: new AbortController().signal },
  );
  return trajectories;
}

/** Empty where all went well: what a test shows of those that did not. */
export function failures(trajectories: readonly Trajectory<ChatRecord>[]): readonly string[] {
  return trajectories.flatMap(({ task, outcome, turns }) =>
    outcome.kind === 'finished' && outcome.success
      ? []
      : [`${task.id}: ${JSON.stringify(outcome)} after ${turns.map(({ nextPage }) => nextPage).join(' | ')}`],
  );
}
