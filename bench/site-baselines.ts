// Oracle, no-op and blind policy on the test tasks of the suites on sites of our own, as evaluations like those of
// `tabwright eval`, but in one process and with browsers that all of it shares: starting them costs more than playing.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { currentCommit } from '../src/cli/machine.ts';
import { browserProduct } from '../src/cli/session-provider.ts';
import { runVersions } from '../src/cli/version.ts';
import { WEB_SUITES } from '../src/cli/web-suites.ts';
import { asJson } from '../src/core/index.ts';
import { webTask, type WebSuite } from '../src/envs/index.ts';
import { buildEvaluation, planEvaluation, playEvaluation, stampEvaluation } from '../src/experiments/index.ts';
import type { SessionProvider } from '../src/repl/index.ts';
import { createRun, resumeRun } from '../src/store/index.ts';
import { ACQUIRE_MS, CELL_SECONDS, openSiteSessions, openSuiteEnv, PATIENT_DEADLINES } from './site-sessions.ts';

export type SiteBaselinesOptions = {
  readonly suites: readonly string[];
  readonly policies: readonly ('oracle' | 'noop' | 'blind')[];
  /** Evaluations go to `<folder>/<suite>-<policy>`; what is there is gone on with, what is complete stays. */
  readonly folder: string;
  readonly sessions: number;
  /** Of each suite. Default: all test tasks. */
  readonly episodes?: number | undefined;
  readonly unsafeLocal?: boolean;
  readonly onProgress?: (line: string) => void;
  readonly signal: AbortSignal;
};

export async function playSiteBaselines(options: SiteBaselinesOptions): Promise<void> {
  const { suites, policies, folder, sessions, unsafeLocal = false, onProgress, signal } = options;
  const missing = suites.flatMap((name) =>
    policies
      .map((policy) => ({ name, policy, out: join(folder, `${name}-${policy}`) }))
      .filter(({ out }) => !existsSync(join(out, 'evaluation.json'))),
  );
  if (missing.length === 0) return;
  await using opened = await openSuites(new Set(missing.map((one) => one.name)));
  await using provider = await openSiteSessions({ egress: opened.egress, sessions, unsafeLocal, signal });
  const product = await browserProduct(provider, { acquireMs: ACQUIRE_MS, signal });
  for (const { name, policy, out } of missing) {
    const start = performance.now();
    const { successes, valid } = await playOne({
      ...options,
      suite: opened.suites.get(name)!,
      policy,
      out,
      provider,
      product,
    });
    const seconds = Math.round((performance.now() - start) / 1000);
    onProgress?.(`${name} ${policy}: ${successes} of ${valid} in ${seconds} s`);
  }
}

type OpenedSuites = AsyncDisposable & {
  readonly suites: ReadonlyMap<string, WebSuite>;
  readonly egress: WebSuite['egress'];
};

/** All at once: the browsers that play them are told at their start which hosts there are. */
async function openSuites(names: Iterable<string>): Promise<OpenedSuites> {
  const suites = new Map<string, WebSuite>();
  const close = async (): Promise<void> => {
    for (const suite of suites.values()) await suite[Symbol.asyncDispose]();
  };
  try {
    for (const name of names) suites.set(name, await WEB_SUITES.get(name)!.open({}));
  } catch (error) {
    await close();
    throw error;
  }
  return { suites, egress: [...suites.values()].flatMap(({ egress }) => egress), [Symbol.asyncDispose]: close };
}

type PlayOneOptions = SiteBaselinesOptions & {
  readonly suite: WebSuite;
  readonly policy: 'oracle' | 'noop' | 'blind';
  readonly out: string;
  readonly provider: SessionProvider;
  readonly product: string;
};

async function playOne(options: PlayOneOptions): Promise<{ readonly successes: number; readonly valid: number }> {
  const { suite, policy, out, provider, product, sessions, episodes, signal } = options;
  const { name, version } = suite.description;
  const tasks = suite.tasks.filter(({ split }) => split === 'test');
  const plan = planEvaluation({
    tasks: tasks.map((task) => ({ ...task, instance: (seed) => webTask(task, { seed, env: name }) })),
    isSeeded: false,
    firstSeed: 0,
    episodes,
  });
  const settings = asJson({
    env: name,
    sessions,
    profile: 'train',
    tool: 'browser_repl',
    cellSeconds: CELL_SECONDS,
    sessionsAre: 'kept from one episode to the next',
    reward: 'code',
  });
  const [commit, versions] = [await currentCommit(), runVersions(product)];
  const model = `scripted:${policy}`;
  const config = asJson({ command: 'baselines', model, commit, versions, settings, episodes: plan.length });
  await using run = existsSync(join(out, 'config.json'))
    ? await resumeRun(out, { config, mayDiffer: ['commit'] })
    : await createRun(out, { config });
  await using env = openSuiteEnv({ suite, provider, tasks, sessions });
  const { trajectories, wallSeconds } = await playEvaluation({
    plan,
    run,
    env,
    actor: suite.policies[policy],
    title: `${model} on ${name}`,
    runSeed: 1,
    deadlines: PATIENT_DEADLINES,
    signal,
  });
  const evaluation = buildEvaluation({
    model,
    renderer: null,
    environment: { name, version, split: 'test', settings },
    reward: 'code',
    judge: null,
    sampling: { seed: 1, temperature: 1, samples: 1 },
    date: new Date().toISOString(),
    commit,
    versions,
    plan,
    trajectories,
    wallSeconds,
  });
  await run.writeEvaluation(stampEvaluation(evaluation));
  return evaluation.summary;
}
