// What the services of the server share: limits, models, sessions, futures, checkpoints and counters. Types and the one
// function that every request of a model goes through.

import type { CheckpointStore } from './checkpoint-store.ts';
import type { Future, FutureStore, OpenOptions } from './future-store.ts';
import { refusal } from './refusals.ts';
import type { Result } from './results.ts';
import type { ServedModels } from './served-model.ts';
import type { ServerMetrics } from './metrics.ts';
import type { Sessions } from './sessions.ts';

export type ServerLimits = {
  /** A session without a sign of life for this long is closed. Default 300 s. */
  readonly sessionTimeoutMs: number;
  /** The same where there is no room for another model: clients beat every ten seconds. Default 60 s. */
  readonly neededTimeoutMs: number;
  /** How long requests wait for an earlier one that has not come. Default 60 s. */
  readonly gapMs: number;
  /** Longest that a request of a model may run, which is then given up, or a sample may take. Default 60 min. */
  readonly jobMs: number;
  /** How long a poll is held open; clients give up at 45 s. Default 25 s. */
  readonly longPollMs: number;
  /** How long a result can be read after it was last asked for. Default 10 min. */
  readonly retainMs: number;
  /** Bytes of a body, compressed or not. Default 64 MiB. */
  readonly maxBodyBytes: number;
  /** Bytes of bodies whose requests have not ended. Default 512 MiB. */
  readonly maxQueuedBytes: number;
  /** Bytes of results that are kept. Default 512 MiB. */
  readonly maxHeldBytes: number;
  /** Samples that have not ended. Default 4,096. */
  readonly maxPendingSamples: number;
  /** Models that are trained at one time. Default 64. */
  readonly maxModels: number;
  /** Snapshots of one model that are kept for sampling without a name; those used longest ago close. Default 8. */
  readonly heldSamplers: number;
  /** Samplers of saved weights that stay open unused. Default 4. */
  readonly openSamplers: number;
};

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  sessionTimeoutMs: 300_000,
  neededTimeoutMs: 60_000,
  gapMs: 60_000,
  jobMs: 3_600_000,
  longPollMs: 25_000,
  retainMs: 600_000,
  maxBodyBytes: 64 * 2 ** 20,
  maxQueuedBytes: 512 * 2 ** 20,
  maxHeldBytes: 512 * 2 ** 20,
  maxPendingSamples: 4_096,
  maxModels: 64,
  heldSamplers: 8,
  openSamplers: 4,
};

export type ServiceParts = {
  readonly limits: ServerLimits;
  readonly models: ServedModels;
  readonly sessions: Sessions;
  readonly futures: FutureStore<Result>;
  readonly checkpoints: CheckpointStore;
  readonly metrics: ServerMetrics;
  /** Told of every failure that is the server's own. */
  readonly onFailure: (error: unknown) => void;
};

/** The answer to whoever asks for work: where its result will be. */
export type FuturePromise = {
  readonly request_id: string;
  readonly model_id?: string;
  readonly sample_sequence_ids?: readonly string[];
};

export function json(body: Extract<Result, { kind: 'json' }>['body']): Result {
  return { kind: 'json', body };
}

/** Opens a future that fails with `failure`. */
export function failed(futures: FutureStore<Result>, options: OpenOptions, failure: unknown): Future<Result> {
  const { future, settle } = futures.open(options);
  settle({ failure });
  return future;
}

/** Whether results of this many bytes and more can be taken in. */
export function checkRoom({ futures, limits }: ServiceParts, queuedBytes: number): void {
  if (futures.heldBytes > limits.maxHeldBytes) {
    throw refusal('too-busy', 'Results that nobody has fetched fill the memory that is set aside for them; wait.');
  }
  if (queuedBytes > limits.maxQueuedBytes) {
    throw refusal('too-busy', 'Requests that wait fill the memory that is set aside for them; wait.');
  }
}
