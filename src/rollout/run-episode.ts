// One episode: ask the actor, carry out what it says, until the environment says how it ended. An infrastructure failure ends it as
// `invalid` with the boundary that failed; what the policy says wrong is passed on to the environment, which
// answers it. Aborts and failures of the run itself (store, config, bugs) are thrown, never made into data.

import {
  TabwrightError,
  type Actor,
  type ActorConversation,
  type Env,
  type Episode,
  type GivenUp,
  type Outcome,
  type Task,
  type TokenUsage,
  type Trajectory,
  type Turn,
} from '../core/index.ts';
import type { Operations } from './operations.ts';

export type EpisodeRequest = {
  readonly task: Task;
  /** Position within its group. */
  readonly member: number;
};

export type Screenshots = {
  /** Of which episodes the page is kept before each action. What environments take for judges is always kept. */
  readonly wants: (request: EpisodeRequest) => boolean;
  readonly save: (fileName: string, png: Uint8Array) => Promise<void>;
  /** Starts each file name; letters, digits, - and _. */
  readonly prefix: string;
};

export type RunEpisodeOptions<R> = {
  readonly env: Env;
  readonly actor: Actor<R>;
  readonly request: EpisodeRequest;
  readonly seedOf: (turn: number) => number;
  readonly operations: Operations;
  readonly screenshots?: Screenshots;
  /**
   * Most tokens of a conversation, prompt and reply of its longest turn together. Beyond it the environment is told that
   * the policy gives up. Default none.
   */
  readonly tokenBudget?: number;
  /** Told of each turn when it is complete; must not throw. */
  readonly onTurn?: (turn: Turn<R>, request: EpisodeRequest) => void;
  readonly signal: AbortSignal;
};

export type EpisodeResult<R> = {
  readonly trajectory: Trajectory<R>;
  /** What made it invalid or, where it is finished, went wrong when it was closed after that. */
  readonly failure?: TabwrightError;
};

export async function runEpisode<R>(options: RunEpisodeOptions<R>): Promise<EpisodeResult<R>> {
  const { operations, request, signal } = options;
  const start = operations.now();
  const turns: Turn<R>[] = [];
  let { task } = request;
  const finish = (outcome: Outcome): Trajectory<R> => ({
    task,
    member: request.member,
    turns,
    outcome,
    seconds: (operations.now() - start) / 1000,
  });
  let played: Trajectory<R> | undefined;
  try {
    const episode = await openEpisode(options, start);
    const episodeStart = operations.now();
    if (episode.instruction !== undefined) task = { ...task, instruction: episode.instruction };
    try {
      played = finish(await play({ ...options, episode, episodeStart, turns }));
    } catch (error) {
      // What went wrong first is what made the episode invalid; that closing it failed too adds nothing.
      await closeEpisode(operations, episode).catch(() => undefined);
      throw error;
    }
    await closeEpisode(operations, episode);
    return { trajectory: played };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof TabwrightError) || error.boundary === 'store' || error.boundary === 'config') throw error;
    const { boundary, code, message } = error;
    return { trajectory: played ?? finish({ kind: 'invalid', boundary, code, message }), failure: error };
  }
}

/** Not under the run's signal: a page is given back even when the run is being stopped. */
function closeEpisode(operations: Operations, episode: Episode): Promise<void> {
  const scope = { episodeStart: operations.now(), turnStart: operations.now() };
  return operations.run('close', scope, async () => episode[Symbol.asyncDispose]());
}

async function openEpisode<R>(
  { env, request, operations, signal }: RunEpisodeOptions<R>,
  start: number,
): Promise<Episode> {
  let opening: Promise<Episode> | undefined;
  let opened = false;
  try {
    const scope = { episodeStart: start, turnStart: start, signal };
    const episode = await operations.run(
      'open',
      scope,
      (inner) => (opening = env.open(request.task, { signal: inner })),
    );
    opened = true;
    return episode;
  } finally {
    // An episode that opens after its deadline belongs to nobody: it is closed, and how that goes is nobody's news.
    if (!opened) opening?.then((late) => late[Symbol.asyncDispose]()).catch(() => undefined);
  }
}

type PlayOptions<R> = RunEpisodeOptions<R> & {
  readonly episode: Episode;
  readonly episodeStart: number;
  /** Filled turn by turn, so that an episode that fails keeps what it had. */
  readonly turns: Turn<R>[];
};

async function play<R>(options: PlayOptions<R>): Promise<Outcome> {
  const { env, actor, request, operations, episode, episodeStart, turns, tokenBudget, onTurn, signal } = options;
  const instruction = episode.instruction ?? request.task.instruction;
  const past: ActorConversation<R>['past'][number][] = [];
  let observation = episode.first;
  while (turns.length < env.maxActions) {
    const scope = { episodeStart, turnStart: operations.now(), signal };
    const screenshot = await picture(options, scope);
    const { action, record, usage } = await operations.run('sample', scope, (inner) =>
      actor.act(
        { instruction, tools: episode.tools, past, observation },
        { signal: inner, seed: options.seedOf(turns.length) },
      ),
    );
    const result = await operations.run('act', scope, (inner) => episode.step(action, { signal: inner }));
    const evidence = await kept(options, result.evidence, '-after');
    const ended = result.outcome ?? result.invalid;
    const spent = tokenBudget !== undefined && usage !== undefined && total(usage) > tokenBudget;
    const givenUp = ended === undefined && spent ? await giveUp(options, scope) : undefined;
    const turn: Turn<R> = {
      ...record,
      action,
      page: observation.page,
      nextPage: result.observation.page,
      ...(result.observation.notice === undefined ? {} : { notice: result.observation.notice }),
      changed: result.changed,
      info: { ...result.info, ...givenUp?.info },
      ...(screenshot === undefined ? {} : { screenshot }),
      ...(evidence === undefined ? {} : { evidence }),
    };
    turns.push(turn);
    onTurn?.(turn, request);
    const outcome = ended ?? givenUp?.outcome;
    if (outcome !== undefined) return outcome;
    past.push({ observation, action, record });
    observation = result.observation;
  }
  throw new TabwrightError(
    'env',
    `${env.name} did not end the episode ${request.task.id} after its ${env.maxActions} actions. That is a bug in it.`,
    { code: 'episode-did-not-end', details: { env: env.name, task: request.task.id } },
  );
}

type Scope = { readonly episodeStart: number; readonly turnStart: number; readonly signal: AbortSignal };

function total({ promptTokens, completionTokens }: TokenUsage): number {
  return promptTokens + completionTokens;
}

function giveUp<R>({ env, episode, operations }: PlayOptions<R>, scope: Scope): Promise<GivenUp> {
  if (episode.giveUp === undefined) {
    throw new TabwrightError('config', `${env.name} has no end for an episode whose budget of tokens is spent.`, {
      code: 'no-token-budget',
      details: { env: env.name },
    });
  }
  return operations.run('act', scope, (signal) => episode.giveUp!('token_budget', { signal }));
}

async function picture<R>(options: PlayOptions<R>, scope: Scope): Promise<string | undefined> {
  const { request, screenshots, episode, operations } = options;
  if (screenshots?.wants(request) !== true) return undefined;
  return kept(options, await operations.run('look', scope, (signal) => episode.screenshot({ signal })), '');
}

async function kept<R>(
  { request, screenshots, turns }: PlayOptions<R>,
  png: Uint8Array | undefined,
  suffix: '' | '-after',
): Promise<string | undefined> {
  if (screenshots === undefined || png === undefined) return undefined;
  const id = request.task.id.replace(/[^A-Za-z0-9]+/g, '-');
  const fileName = `${screenshots.prefix}-${id}-${request.member}-${turns.length}${suffix}.png`;
  await screenshots.save(fileName, png);
  return fileName;
}
