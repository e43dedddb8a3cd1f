// One episode: prompt, sample, act, until the environment says how it ended. An infrastructure failure ends it as
// `invalid` with the boundary that failed; what the policy says wrong is passed on to the environment, which
// answers it. Aborts and failures of the run itself (store, config, bugs) are thrown, never made into data.

import {
  TabwrightError,
  type Env,
  type Episode,
  type Observation,
  type Outcome,
  type Policy,
  type SamplingParams,
  type Task,
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
  readonly wants: (request: EpisodeRequest) => boolean;
  readonly save: (fileName: string, png: Uint8Array) => Promise<void>;
  /** Starts each file name; letters, digits, - and _. */
  readonly prefix: string;
};

export type RunEpisodeOptions = {
  readonly env: Env;
  readonly policy: Policy;
  readonly request: EpisodeRequest;
  /** How tokens are drawn; stop tokens, length and seed come from the renderer and `seedOf`. */
  readonly sampling: Pick<SamplingParams, 'temperature' | 'topP' | 'topK'>;
  readonly seedOf: (turn: number) => number;
  readonly operations: Operations;
  readonly screenshots?: Screenshots;
  readonly signal: AbortSignal;
};

export type EpisodeResult = {
  readonly trajectory: Trajectory;
  /** What made it invalid or, where it is finished, went wrong when it was closed after that. */
  readonly failure?: TabwrightError;
};

export async function runEpisode(options: RunEpisodeOptions): Promise<EpisodeResult> {
  const { operations, request, signal } = options;
  const episodeStart = operations.now();
  const turns: Turn[] = [];
  const finish = (outcome: Outcome): Trajectory => ({
    task: request.task,
    member: request.member,
    turns,
    outcome,
    seconds: (operations.now() - episodeStart) / 1000,
  });
  let played: Trajectory | undefined;
  try {
    const episode = await openEpisode(options, episodeStart);
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

async function openEpisode(
  { env, request, operations, signal }: RunEpisodeOptions,
  episodeStart: number,
): Promise<Episode> {
  let opening: Promise<Episode> | undefined;
  let opened = false;
  try {
    const scope = { episodeStart, turnStart: episodeStart, signal };
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

type PlayOptions = RunEpisodeOptions & {
  readonly episode: Episode;
  readonly episodeStart: number;
  /** Filled turn by turn, so that an episode that fails keeps what it had. */
  readonly turns: Turn[];
};

async function play(options: PlayOptions): Promise<Outcome> {
  const { env, policy, request, operations, episode, episodeStart, turns, signal } = options;
  const { sampler, renderer } = policy;
  const past: { observation: Observation; actionTokens: readonly number[] }[] = [];
  let observation = episode.first;
  while (turns.length < env.maxActions) {
    const scope = { episodeStart, turnStart: operations.now(), signal };
    const screenshot = await picture(options, turns.length, scope);
    const { instruction } = request.task;
    const prompt = renderer.render({ instruction, tools: episode.tools, past, observation });
    const params = {
      ...options.sampling,
      maxTokens: renderer.maxActionTokens,
      stop: renderer.stopTokens,
      seed: options.seedOf(turns.length),
    };
    const [sample] = await operations.run('sample', scope, (inner) =>
      sampler.sample({ prompt, numSamples: 1, params }, { signal: inner }),
    );
    if (sample === undefined) {
      throw new TabwrightError('backend', 'The sampler answered a request for 1 sample with none.', {
        code: 'no-sample',
      });
    }
    const action = renderer.parse(sample.tokens);
    const result = await operations.run('act', scope, (inner) => episode.step(action, { signal: inner }));
    turns.push({
      promptTokens: prompt,
      actionTokens: sample.tokens,
      logprobs: sample.logprobs,
      samplerVersion: sampler.version,
      stop: sample.stop,
      action,
      page: observation.page,
      nextPage: result.observation.page,
      ...(result.observation.notice === undefined ? {} : { notice: result.observation.notice }),
      changed: result.changed,
      info: result.info,
      ...(screenshot === undefined ? {} : { screenshot }),
    });
    if (result.outcome !== undefined) return result.outcome;
    past.push({ observation, actionTokens: sample.tokens });
    observation = result.observation;
  }
  throw new TabwrightError(
    'env',
    `${env.name} did not end the episode ${request.task.id} after its ${env.maxActions} actions. That is a bug in it.`,
    { code: 'episode-did-not-end', details: { env: env.name, task: request.task.id } },
  );
}

async function picture(
  { request, screenshots, episode, operations }: PlayOptions,
  turn: number,
  scope: { readonly episodeStart: number; readonly turnStart: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  if (screenshots?.wants(request) !== true) return undefined;
  const png = await operations.run('look', scope, (signal) => episode.screenshot({ signal }));
  const id = request.task.id.replace(/[^A-Za-z0-9]+/g, '-');
  const fileName = `${screenshots.prefix}-${id}-${request.member}-${turn}.png`;
  await screenshots.save(fileName, png);
  return fileName;
}
