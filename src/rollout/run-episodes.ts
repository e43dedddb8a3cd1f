// Many episodes at once, as many as the environment has places for. Failed ones are run again a bounded number of
// times with the same seeds; a share of failures that no longer looks like weather stops the run. Results come in
// the order of the requests, whatever order they were done in.

import {
  TabwrightError,
  type Group,
  type ProgressListener,
  type Task,
  type TokenRecord,
  type Trajectory,
} from '../core/index.ts';
import { linkedController } from '../util/index.ts';
import { createOperations, DEFAULT_DEADLINES, type Deadlines, type OperationKind } from './operations.ts';
import { runEpisode, type EpisodeRequest, type RunEpisodeOptions } from './run-episode.ts';
import { sampleSeed } from './sample-seed.ts';
import { tokenActor, type TokenActorOptions } from './token-actor.ts';

export type ActorRolloutOptions<R> = Pick<
  RunEpisodeOptions<R>,
  'env' | 'actor' | 'screenshots' | 'tokenBudget' | 'onTurn'
> & {
  readonly runSeed: number;
  /** Names the draws together with `step`, and labels progress. */
  readonly stage: string;
  /** Training step. Default 0. */
  readonly step?: number;
  readonly deadlines?: Partial<Deadlines>;
  /** How many operations of a kind may go on at once. Default: as many as there are episodes. */
  readonly limits?: Partial<Record<OperationKind, number>>;
  /** Times a failed episode is run again, if its failure says that this may help. Default 2. */
  readonly maxRetries?: number;
  /** Share of failed attempts above which the run stops. Default 0.05. */
  readonly maxInvalidShare?: number;
  /** Failed attempts that never stop a run. Default max(5, capacity): one browser takes all its pages with it. */
  readonly toleratedInvalid?: number;
  /** Told of each episode as it ends, retries behind it; what it throws stops the run. */
  readonly onEpisode?: (trajectory: Trajectory<R>) => void;
  readonly listener?: ProgressListener;
  readonly signal: AbortSignal;
  /** Milliseconds; any origin. Default `performance.now`. */
  readonly now?: () => number;
};

export type RolloutOptions = Omit<ActorRolloutOptions<TokenRecord>, 'actor'> & TokenActorOptions;

export type RolloutResult<R = TokenRecord> = {
  /** In the order of the requests. What is still invalid here failed in every attempt. */
  readonly trajectories: readonly Trajectory<R>[];
  /** Failed attempts by `boundary/code`, those that were run again included. */
  readonly failures: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Seconds inside each kind of operation, summed over episodes. */
  readonly operationSeconds: Readonly<Partial<Record<OperationKind, number>>>;
};

/** Runs the requests with a policy that samples tokens: the episodes that can be trained on. */
export function runEpisodes(requests: readonly EpisodeRequest[], options: RolloutOptions): Promise<RolloutResult> {
  return runActorEpisodes(requests, { ...options, actor: tokenActor(options) });
}

/** Runs the requests. Throws on abort, on a failure of the run itself, and with code `too-many-invalid`. */
export async function runActorEpisodes<R>(
  requests: readonly EpisodeRequest[],
  options: ActorRolloutOptions<R>,
): Promise<RolloutResult<R>> {
  const { env, stage, step = 0, maxRetries = 2, now = () => performance.now() } = options;
  const deadlines = { ...DEFAULT_DEADLINES, ...options.deadlines };
  const { limits } = options;
  const operations = createOperations({ deadlines, now, ...(limits === undefined ? {} : { limits }) });
  const { controller, unlink } = linkedController(options.signal);
  const timer = setTimeout(() => controller.abort(runExpired(stage, deadlines.runMs)), deadlines.runMs);
  const start = now();

  const trajectories: (Trajectory<R> | undefined)[] = requests.map(() => undefined);
  const failures: Record<string, number> = {};
  const count = { next: 0, done: 0, successes: 0, invalid: 0, attempts: 0, failed: 0 };
  const allowed = Math.max(
    options.toleratedInvalid ?? Math.max(5, env.capacity),
    (options.maxInvalidShare ?? 0.05) * requests.length,
  );

  const attempt = async (request: EpisodeRequest): Promise<Trajectory<R>> => {
    for (let retry = 0; ; retry++) {
      const { trajectory, failure } = await runEpisode({
        ...options,
        request,
        operations,
        signal: controller.signal,
        seedOf: (turn) =>
          sampleSeed({ runSeed: options.runSeed, stage, step, taskId: request.task.id, member: request.member, turn }),
      });
      count.attempts++;
      if (failure === undefined) return trajectory;
      const name = `${failure.boundary}/${failure.code}`;
      failures[name] = (failures[name] ?? 0) + 1;
      count.failed++;
      if (count.failed > allowed)
        throw tooManyInvalid({ failed: count.failed, attempts: count.attempts, failures, last: failure });
      if (trajectory.outcome.kind === 'finished' || !failure.retryable || retry >= maxRetries) return trajectory;
    }
  };

  const work = async (): Promise<void> => {
    while (count.next < requests.length) {
      controller.signal.throwIfAborted();
      const index = count.next++;
      const trajectory = await attempt(requests[index]);
      trajectories[index] = trajectory;
      options.onEpisode?.(trajectory);
      count.done++;
      if (trajectory.outcome.kind === 'invalid') count.invalid++;
      else if (trajectory.outcome.success) count.successes++;
      const { done, successes, invalid } = count;
      options.listener?.({ kind: 'episode-end', stage, done, total: requests.length, successes, invalid });
    }
  };

  try {
    // The first failure stops the others; all have given their pages back before it is reported.
    const workers = Array.from({ length: Math.min(env.capacity, requests.length) }, () =>
      work().catch((error: unknown) => {
        controller.abort(error);
      }),
    );
    await Promise.all(workers);
    if (controller.signal.aborted) throw controller.signal.reason;
  } finally {
    clearTimeout(timer);
    unlink();
  }
  return {
    trajectories: trajectories as Trajectory<R>[],
    failures,
    seconds: (now() - start) / 1000,
    operationSeconds: operations.seconds(),
  };
}

export type GroupsResult = Omit<RolloutResult, 'trajectories'> & { readonly groups: readonly Group[] };

/** Runs `groupSize` episodes of every task; groups come in the order of the tasks, members in theirs. */
export async function runGroups(
  tasks: readonly Task[],
  groupSize: number,
  options: RolloutOptions,
): Promise<GroupsResult> {
  const requests = tasks.flatMap((task) => Array.from({ length: groupSize }, (_, member) => ({ task, member })));
  const { trajectories, ...rest } = await runEpisodes(requests, options);
  const groups = tasks.map((task, i) => ({
    task,
    trajectories: trajectories.slice(i * groupSize, (i + 1) * groupSize),
  }));
  return { ...rest, groups };
}

type TooManyInvalid = {
  readonly failed: number;
  readonly attempts: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly last: TabwrightError;
};

/** What helps where nothing failed but deadlines. */
const SLOW =
  'If what is asked answers at all, the machine has too much to do: leave it more to itself or play fewer episodes at once (--pages)';

function tooManyInvalid({ failed, attempts, failures, last }: TooManyInvalid): TabwrightError {
  const list = Object.entries(failures)
    .map(([name, times]) => `${name} ${times} times`)
    .join(', ');
  const isSlow = Object.keys(failures).every((name) => name.endsWith('-timeout'));
  return new TabwrightError(
    last.boundary,
    `${failed} of ${attempts} attempts at episodes failed for reasons that are not the policy's (${list}); the last: ${last.message.replace(/\.?$/, '.')} ` +
      `None of them counts. ${isSlow ? SLOW : 'Find the cause'}, then go on with --resume.`,
    { code: 'too-many-invalid', details: { failed, attempts, failures: { ...failures } }, cause: last },
  );
}

function runExpired(stage: string, limitMs: number): TabwrightError {
  return new TabwrightError(
    'env',
    `The episodes of ${stage} took longer than ${limitMs} ms in all. Raise runMs, or run fewer.`,
    {
      code: 'run-timeout',
      details: { stage, limitMs },
    },
  );
}
