// `tabwright eval --url --task`: one task on any website, in words. It shows what was done and what the model answers;
// nobody judges it, so there is no number. The run folder holds the episode with the host's log and pictures.

import { z } from 'zod';
import { locateChromium } from '../../browser/index.ts';
import {
  TabwrightError,
  type Actor,
  type AnyTrajectory,
  type Env,
  type JsonObject,
  type Trajectory,
  type Turn,
} from '../../core/index.ts';
import { createWebTaskEnv, webTaskConfigSchema } from '../../envs/index.ts';
import { createLocalProvider, type SessionProvider } from '../../repl/index.ts';
import { runActorEpisodes } from '../../rollout/index.ts';
import type { RunFolder } from '../../store/index.ts';
import { openActor } from '../actors.ts';
import { egressRules } from '../egress-option.ts';
import { jailFor, localBrowserSettings } from '../local-browsers.ts';
import { currentCommit } from '../machine.ts';
import { printable } from '../printable.ts';
import type { CommandContext } from '../run-command.ts';
import { runVersions } from '../version.ts';

const limits = webTaskConfigSchema.shape;

/** Flags of `eval` that belong to tasks on websites; all are optional there, and have their defaults here. */
export const webTaskSettings = {
  url: z.url().optional().describe('a page to start at: one task on any website instead of puzzles'),
  task: z.string().min(1).optional().describe('with --url: what is to be done there'),
  baseUrl: z
    .url()
    .optional()
    .describe('with openai:<name>, openrouter:<name> or tinker:...: the address of the endpoint or server'),
  verbose: z.boolean().optional().describe('with --task: print every cell and its output'),
  allow: localBrowserSettings.allow
    .unwrap()
    .optional()
    .describe('with --task: hosts that the browser may reach (default: *)'),
  profile: localBrowserSettings.profile
    .unwrap()
    .optional()
    .describe('with --task: what cells find, all of Node or what models in training are given (default: train)'),
  unsafeLocal: z.boolean().optional().describe('with --task: run without a jail, with all rights of this user'),
  ...(Object.fromEntries(
    Object.entries(limits).map(([name, schema]) => [
      name,
      schema
        .unwrap()
        .optional()
        .describe(`with --task: ${schema.description ?? ''} (default: ${JSON.stringify(schema.parse(undefined))})`),
    ]),
  ) as { [K in keyof typeof limits]: z.ZodOptional<ReturnType<(typeof limits)[K]['unwrap']>> }),
};

export type WebTaskSettings = z.output<z.ZodObject<typeof webTaskSettings>> & {
  readonly seed: number;
  readonly temperature: number;
};

export async function evaluateWebTask(
  config: WebTaskSettings,
  { given, listener, signal, openRun, print }: CommandContext<unknown>,
): Promise<void> {
  const { url, task: instruction, seed, temperature, baseUrl, verbose = false } = config;
  if (url === undefined || instruction === undefined) {
    throw new TabwrightError('config', '--url and --task belong together: where to start, and what to do there.', {
      code: 'half-a-task',
    });
  }
  const { allow = '*', profile = 'train', unsafeLocal = false } = config;
  const limitsGiven = Object.keys(limits).map((name) => [name, config[name as keyof typeof limits]] as const);
  const settings = webTaskConfigSchema.parse(
    Object.fromEntries(limitsGiven.filter(([, value]) => value !== undefined)),
  );
  const egress = egressRules(allow);
  const model = given.model ?? 'nano';
  await using opened = await openActor({
    model,
    maxTokens: settings.turnTokens,
    temperature,
    ...(baseUrl === undefined ? {} : { baseUrl }),
  });
  const jail = await jailFor(unsafeLocal, signal);
  const location = await locateChromium({ prefer: 'chrome', signal });
  // Twice, because asking the browser for its version is an episode too.
  const provider = createLocalProvider({ jail, egress, location, cell: { profile }, sessions: 1, episodes: 2 });
  await using env = createWebTaskEnv({ provider, tasks: [{ url, instruction }], capacity: 1, config: settings });
  await using run = await openRun({
    model,
    ...(opened.kind === 'chat' && opened.baseUrl !== undefined ? { baseUrl: opened.baseUrl } : {}),
    commit: await currentCommit(),
    versions: runVersions(await product(provider, signal)),
    env: env.name,
    url,
    task: instruction,
    seed,
    temperature,
    allow,
    profile,
    unsafeLocal,
    ...settings,
  });
  const onTurn = (turn: Turn<unknown>): void => {
    if (verbose) showTurn(turn, given.json ?? false);
  };
  const playing = { env, seed, run, listener, signal, onTurn, tokenBudget: settings.trajectoryTokens, ...settings };
  // A run that is gone on with and has its episode is complete.
  const [done] = (await run.hasRollouts('eval')) ? await run.readAnyRollouts('eval') : [];
  const trajectory: AnyTrajectory =
    done ?? (opened.kind === 'chat' ? await play(opened.actor, playing) : await play(opened.actor, playing));
  if (done === undefined) await run.writeRollouts('eval', [trajectory]);
  report(trajectory, run, print);
}

type PlayOptions = {
  readonly env: Env;
  readonly seed: number;
  readonly run: RunFolder;
  readonly listener: CommandContext<unknown>['listener'];
  readonly signal: AbortSignal;
  readonly onTurn: (turn: Turn<unknown>) => void;
  readonly tokenBudget: number;
  readonly cellSeconds: number;
  readonly maxTurns: number;
};

async function play<R>(actor: Actor<R>, options: PlayOptions): Promise<Trajectory<R>> {
  const { env, seed, run, listener, signal, onTurn, tokenBudget, cellSeconds, maxTurns } = options;
  const title = `Playing ${actor.name}`;
  listener({ kind: 'stage-start', stage: 'eval', title, total: 1, unit: 'episodes' });
  // A reply and the cell that it asks for, each with what it takes beside its own deadline.
  const operationMs = Math.max(200_000, cellSeconds * 1000 + 60_000);
  const turnMs = operationMs + 200_000;
  const { trajectories, seconds } = await runActorEpisodes([{ task: env.task(0), member: 0 }], {
    env,
    actor,
    runSeed: seed,
    stage: 'eval',
    deadlines: { operationMs, turnMs, episodeMs: turnMs * (maxTurns + 1), runMs: turnMs * (maxTurns + 2) },
    maxRetries: 0,
    screenshots: { wants: () => false, prefix: 'eval', save: (name, png) => run.writeScreenshot(name, png) },
    tokenBudget,
    onTurn,
    listener,
    signal,
  });
  const [trajectory] = trajectories as [Trajectory<R>];
  const summary = `${trajectory.turns.length} turns`;
  listener({ kind: 'stage-end', stage: 'eval', seconds, summary });
  return trajectory;
}

/** What the browser calls itself. */
async function product(provider: SessionProvider, signal: AbortSignal): Promise<string> {
  await using lease = await provider.acquire({ signal });
  const code = `repl.write((await cdp('Browser.getVersion')).product);`;
  const { success, content = [], error = '' } = await lease.execute({ code, signal });
  const [item] = content;
  if (success && item?.type === 'text') return item.text;
  throw new TabwrightError('browser', `the browser does not tell its version: ${error}`, { code: 'no-version' });
}

function showTurn({ action, nextPage, notice = '' }: Turn<unknown>, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ kind: 'turn', action, notice, output: nextPage })}\n`);
    return;
  }
  const what =
    action.kind === 'call'
      ? typeof action.args.code === 'string'
        ? action.args.code
        : JSON.stringify(action.args)
      : action.kind === 'malformed'
        ? action.text
        : undefined;
  if (what === undefined) return; // the answer is printed at the end, verbose or not
  const lines = what.trimEnd().split('\n');
  const shown = [...lines.map((line, i) => `${i === 0 ? '> ' : '. '}${line}`), `  [${notice}]`, nextPage];
  process.stdout.write(`${printable(shown.filter((line) => line !== '').join('\n'))}\n\n`);
}

/** An episode that ended as it should has an answer or a reason; one that broke is the command's failure. */
function report(trajectory: AnyTrajectory, run: RunFolder, print: CommandContext<unknown>['print']): void {
  const { outcome, turns, seconds } = trajectory;
  const last = turns.at(-1)?.action;
  const answer = last?.kind === 'answer' ? last.text : null;
  const file = `${run.dir}/rollouts/eval.jsonl`;
  const data: JsonObject = {
    answer,
    turns: turns.length,
    seconds,
    judged: false,
    episode: file,
    outcome: { ...outcome },
  };
  if (outcome.kind === 'invalid' && outcome.code !== 'not-judged') {
    print(`No answer: the episode broke off after ${turns.length} turns.\nEpisode: ${file}`, data);
    throw new TabwrightError(outcome.boundary, outcome.message, { code: outcome.code });
  }
  print(
    [
      answer === null ? `No answer: the episode ended after ${turns.length} turns.` : `Answer: ${printable(answer)}`,
      `Nobody has judged it. Episode, log and pictures: ${file}`,
    ].join('\n'),
    data,
  );
}
