// The operations of an episode (open, sample, act, look, close), each with its own queue, deadline and clock.
// Episodes only ever wait for the operation they need: there is no barrier between them. Time spent queueing does
// not count against the deadline of the operation, which is about the other side, but does against the episode's.

import { TabwrightError, type Boundary } from '../core/index.ts';
import { createSemaphore, withDeadline, type Semaphore } from '../util/index.ts';

export type OperationKind = 'open' | 'sample' | 'act' | 'look' | 'close';

/** Nested: an operation is given up at the earliest of operation, turn and episode. */
export type Deadlines = {
  /**
   * Opening an episode, milliseconds, waiting until there is a browser for it included; turn and episode begin after that.
   * Default 120,000: all pages of a run open at once, and a busy machine takes its time.
   */
  readonly openMs: number;
  /** One call to the environment or the sampler, milliseconds. Default 30,000. */
  readonly operationMs: number;
  /** Sampling an action and carrying it out, milliseconds. Default 60,000. */
  readonly turnMs: number;
  /** Milliseconds. Default 300,000. */
  readonly episodeMs: number;
  /** The whole batch of episodes, milliseconds. Default 3,600,000. */
  readonly runMs: number;
};

export const DEFAULT_DEADLINES: Deadlines = {
  openMs: 120_000,
  operationMs: 30_000,
  turnMs: 60_000,
  episodeMs: 300_000,
  runMs: 3_600_000,
};

export type OperationsOptions = {
  readonly deadlines: Deadlines;
  /** How many of a kind may go on at once. Default: unbounded, the pool of episodes bounds them. */
  readonly limits?: Partial<Record<OperationKind, number>>;
  /** Milliseconds; any origin. */
  readonly now: () => number;
};

/** When the turn and the episode that an operation belongs to began, by the clock of the operations. */
export type OperationScope = {
  readonly episodeStart: number;
  readonly turnStart: number;
  readonly signal?: AbortSignal;
};

export interface Operations {
  run<T>(kind: OperationKind, scope: OperationScope, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  now(): number;
  /** Seconds spent inside each kind so far, summed over episodes, queueing not included. */
  seconds(): Readonly<Partial<Record<OperationKind, number>>>;
}

export function createOperations({ deadlines, limits = {}, now }: OperationsOptions): Operations {
  const queues = new Map<OperationKind, Semaphore>();
  const spent: Partial<Record<OperationKind, number>> = {};
  for (const [kind, limit] of Object.entries(limits)) queues.set(kind as OperationKind, createSemaphore(limit));

  return {
    now,
    seconds: () => ({ ...spent }),
    async run(kind, scope, work) {
      const release = await queues.get(kind)?.acquire(scope.signal);
      const start = now();
      const { openMs } = deadlines;
      const bounds: readonly Bound[] =
        kind === 'open'
          ? [{ what: 'open', limit: openMs, left: openMs }]
          : [
              { what: 'operation', limit: deadlines.operationMs, left: deadlines.operationMs },
              { what: 'turn', limit: deadlines.turnMs, left: scope.turnStart + deadlines.turnMs - start },
              { what: 'episode', limit: deadlines.episodeMs, left: scope.episodeStart + deadlines.episodeMs - start },
            ];
      const tightest = bounds.reduce((a, b) => (b.left < a.left ? b : a));
      try {
        return await withDeadline(
          {
            ms: Math.max(0, tightest.left),
            ...(scope.signal === undefined ? {} : { signal: scope.signal }),
            onExpiry: () => expired(kind, tightest.what, tightest.limit),
          },
          work,
        );
      } finally {
        spent[kind] = (spent[kind] ?? 0) + (now() - start) / 1000;
        release?.();
      }
    },
  };
}

type Bound = {
  readonly what: 'open' | 'operation' | 'turn' | 'episode';
  readonly limit: number;
  readonly left: number;
};

function expired(kind: OperationKind, what: Bound['what'], limitMs: number): TabwrightError {
  const boundary: Boundary = kind === 'sample' ? 'backend' : 'env';
  return new TabwrightError(
    boundary,
    `The ${what === 'open' ? 'opening' : what} took longer than ${limitMs} ms, in "${kind}". Raise ${what}Ms if that is to be expected here.`,
    { code: `${what}-timeout`, details: { kind, limitMs }, retryable: true },
  );
}
