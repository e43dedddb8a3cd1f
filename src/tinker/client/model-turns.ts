// The order of one model's requests, as its client keeps it. A call's place is taken when it is made; its numbers are given
// when its turn comes, so that a call that was given up before leaves no hole for the server to wait at.

import { abortable } from '../../util/index.ts';
import { promiseSchema } from '../wire/index.ts';
import { clientError, isTinkerError } from './client-error.ts';
import type { RequestType } from './futures.ts';
import type { Shared } from './shared.ts';

export type Signal = { readonly signal?: AbortSignal | undefined };

export type Submission = {
  readonly path: string;
  readonly requestType: RequestType;
  readonly body: (seqId: number) => object | Uint8Array;
  /** Of what `body` gives, for the server's limit on what is under way. Default 0, which is not counted. */
  readonly bytes?: number;
};

/** Steps that a turn may take; it is over when all are accepted, whether or not there are results yet. */
export interface Turn {
  /** Gives the request's id. */
  submit(submission: Submission): Promise<string>;
  /** Says that the server has not looked at the number of the request that it has just refused. */
  takeBackNumber(): void;
}

export class ModelTurns {
  readonly #shared: Shared;
  readonly #modelId: string;
  #seqId: number;
  #tail: Promise<unknown> = Promise.resolve();
  #lost: Error | undefined;

  constructor(shared: Shared, { modelId, firstSeqId }: { readonly modelId: string; readonly firstSeqId: number }) {
    this.#shared = shared;
    this.#modelId = modelId;
    this.#seqId = firstSeqId;
  }

  /** Resolves when every turn that has been taken so far is over. */
  get settled(): Promise<unknown> {
    return this.#tail;
  }

  get isClosed(): boolean {
    return this.#lost !== undefined;
  }

  /** No turn begins after this; an earlier reason stays the reason. */
  close(reason: Error): void {
    this.#lost ??= reason;
  }

  /**
   * Takes the next place at once and does `work` when it comes. The caller's signal ends its wait; a turn that has begun
   * goes on without it, because a number that was given has to arrive.
   */
  take<T>({ signal }: Signal, work: (turn: Turn) => Promise<T>): Promise<T> {
    const turn = this.#tail.then(() => {
      signal?.throwIfAborted();
      if (this.#lost !== undefined) throw this.#lost;
      return work({ submit: (submission) => this.#submit(submission), takeBackNumber: () => void this.#seqId-- });
    });
    this.#tail = turn.catch(() => undefined);
    return signal === undefined ? turn : abortable(turn, signal);
  }

  async #submit({ path, requestType, body, bytes = 0 }: Submission): Promise<string> {
    const { caller, trainingBytes } = this.#shared;
    const release = await trainingBytes.take(bytes);
    try {
      const message = body(this.#seqId);
      this.#seqId++;
      const headers = { 'x-tinker-request-type': requestType };
      return (await caller.json(promiseSchema, { path, body: message, headers })).request_id;
    } catch (error) {
      // A refusal uses its number up; where it is unknown whether the request arrived, nothing may follow it.
      if (isTinkerError(error, 'tinker-unreachable', 'tinker-timeout', 'tinker-unavailable')) {
        this.#lost = clientError(
          `An earlier request of the model ${this.#modelId} was lost (${error.message}); go on from its last saved state.`,
          { code: 'tinker-model-lost', cause: error },
        );
      }
      throw error;
    } finally {
      release();
    }
  }
}
