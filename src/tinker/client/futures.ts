// Waiting for the result of a piece of work: long polls until there is one, with every kind of answer that servers of
// this protocol give. What the result means is the caller's.
// Source: the protocol's table of retrieve_future replies; SkyRL 0.4.0 answers failures with 400 and `detail`.

import { isProtobuf, PROTOBUF, JSON_TYPE, type WireJson } from '../wire/index.ts';
import { sleep, withDeadline } from '../../util/index.ts';
import type { ByteBudget } from './budget.ts';
import type { Caller } from './caller.ts';
import { clientError, isTinkerError, refusal } from './client-error.ts';
import type { WireReply } from './transport.ts';

export type RequestType =
  | 'CreateModel'
  | 'UnloadModel'
  | 'ForwardBackward'
  | 'Forward'
  | 'OptimStep'
  | 'Sample'
  | 'SaveWeights'
  | 'LoadWeights'
  | 'SaveWeightsForSampler'
  | 'SaveWeightsExternal';

export type FutureOptions = {
  readonly requestId: string;
  readonly requestType: RequestType;
  /** How long the request took to be accepted; servers measure with it. */
  readonly roundtripMs?: number;
  /** Waited for before the first poll, within the time that the result has. Default: nothing. */
  readonly until?: (signal: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
};

/** A finished result in the form that the server chose. */
export type FutureResult = { readonly protobuf: Uint8Array } | { readonly json: WireJson };

/** Blind tries after a 400, as Tinker's own client makes. */
const BAD_REQUEST_TRIES = 3;

/** Reasons for waiting that are remembered; a server may have a new one every time. */
const MAX_NOTED = 16;

export class Futures {
  readonly #caller: Caller;
  /** Bytes of results that are on their way. */
  readonly #budget: ByteBudget;
  readonly #noted = new Map<string, number>();

  constructor(caller: Caller, budget: ByteBudget) {
    this.#caller = caller;
    this.#budget = budget;
  }

  async result<T>(options: FutureOptions, read: (result: FutureResult) => T): Promise<T> {
    const { resultMs } = this.#caller.pacing;
    const { requestId, requestType, signal } = options;
    const onExpiry = (): Error =>
      clientError(`${requestType} ${requestId} gave no result within ${resultMs / 1000} s.`, {
        code: 'tinker-result-timeout',
        requestId,
      });
    return withDeadline({ ms: resultMs, onExpiry, ...(signal === undefined ? {} : { signal }) }, async (inner) => {
      await options.until?.(inner);
      return this.#poll({ ...options, signal: inner }, read);
    });
  }

  async #poll<T>(
    options: FutureOptions & { readonly signal: AbortSignal },
    read: (result: FutureResult) => T,
  ): Promise<T> {
    const { requestId, requestType, signal } = options;
    const { pacing } = this.#caller;
    let release: (() => void) | undefined;
    let failures = 0;
    let badRequests = 0;
    let troubleSince: number | undefined;
    let paidSince: number | undefined;
    try {
      for (let iteration = 0; ; iteration++) {
        const asked = performance.now();
        const answer = await this.#ask(options, iteration, release === undefined);
        const trouble = answer.kind === 'trouble';
        troubleSince = trouble ? (troubleSince ?? asked) : undefined;
        failures = trouble ? failures + 1 : 0;
        switch (answer.kind) {
          case 'result':
            return read(answer.result);
          case 'large':
            if (release !== undefined) break;
            release = await this.#budget.take(answer.bytes, signal);
            continue;
          case 'again':
            if (answer.reason !== undefined) this.#note(answer.reason);
            break;
          case 'bad-request':
            if (++badRequests >= BAD_REQUEST_TRIES) throw failed(requestType, requestId, answer.words, undefined, 400);
            break;
          case 'unpaid':
            paidSince ??= asked;
            if (asked - paidSince > pacing.billingBudgetMs) throw refusal(402, 'retrieve_future', answer.words);
            await sleep(pacing.billingPauseMs, signal);
            continue;
          case 'trouble':
            if (asked - troubleSince! > pacing.retryBudgetMs) throw answer.error;
            if (answer.slowly) {
              await sleep(Math.min(pacing.firstRetryMs * 2 ** (failures - 1), pacing.longestRetryMs), signal);
              continue;
            }
            break;
        }
        // A long poll that was answered late may go on at once; one that was answered at once must not spin.
        const early = pacing.repollMs - (answer.kind === 'again' ? performance.now() - asked : 0);
        if (early > 0) await sleep(early, signal);
      }
    } finally {
      release?.();
    }
  }

  async #ask(
    { requestId, requestType, roundtripMs, signal }: FutureOptions,
    iteration: number,
    allowMetadataOnly: boolean,
  ): Promise<Answer> {
    const proto = requestType === 'Sample' || requestType === 'Forward' || requestType === 'ForwardBackward';
    let reply: WireReply;
    try {
      reply = await this.#caller.transport.send({
        method: 'POST',
        path: 'retrieve_future',
        body: { request_id: requestId, allow_metadata_only: allowMetadataOnly },
        headers: {
          accept: proto ? `${PROTOBUF}, ${JSON_TYPE}` : JSON_TYPE,
          'x-tinker-request-iteration': String(iteration),
          'x-tinker-request-type': requestType,
          ...(iteration === 0 && roundtripMs !== undefined
            ? { 'x-tinker-create-promise-roundtrip-time': String(roundtripMs / 1000) }
            : {}),
        },
        timeoutMs: this.#caller.pacing.pollMs,
        signal,
      });
    } catch (error) {
      // A poll that ran out of time is a long poll like any other.
      if (isTinkerError(error, 'tinker-timeout')) return { kind: 'again', reason: undefined };
      if (isTinkerError(error, 'tinker-unreachable')) return { kind: 'trouble', error, slowly: true };
      throw error;
    }
    return this.#answer(reply, requestId, requestType);
  }

  #answer(reply: WireReply, requestId: string, requestType: RequestType): Answer {
    const { status } = reply;
    if (status >= 200 && status < 300) return this.#finished(reply, requestId, requestType);
    const words = this.#caller.words(reply);
    if (status === 408) return { kind: 'again', reason: queueReason(words) };
    if (status === 400) {
      // FastAPI's `detail` is how SkyRL says that the work failed; others say nothing that would be final.
      if (new TextDecoder().decode(reply.body).includes('"detail"')) {
        throw failed(requestType, requestId, words, undefined, 400);
      }
      return { kind: 'bad-request', words };
    }
    if (status === 402) return { kind: 'unpaid', words };
    if (status === 429 || status >= 500) {
      const error = clientError(`The Tinker server cannot give the result of ${requestType} (${status}): ${words}`, {
        code: 'tinker-unavailable',
        status,
        requestId,
        retryable: true,
      });
      return { kind: 'trouble', error, slowly: status === 429 };
    }
    if (status === 410) {
      throw clientError(`The server has forgotten ${requestType} ${requestId}: ${words}`, {
        code: 'tinker-promise-lost',
        status,
        requestId,
        retryable: true,
      });
    }
    throw clientError(`The result of ${requestType} ${requestId} cannot be had (${status}): ${words}`, {
      code: status === 404 ? 'tinker-not-found' : 'tinker-refused',
      status,
      requestId,
    });
  }

  #finished(reply: WireReply, requestId: string, requestType: RequestType): Answer {
    if (isProtobuf(reply.headers.get('content-type'))) return { kind: 'result', result: { protobuf: reply.body } };
    const json = this.#caller.parse(reply, 'retrieve_future');
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return { kind: 'result', result: { json } };
    const body = json as Readonly<Record<string, WireJson | undefined>>;
    if (body['type'] === 'try_again') {
      const reason = body['queue_state_reason'] ?? (body['queue_state'] === 'active' ? undefined : body['queue_state']);
      return { kind: 'again', reason: typeof reason === 'string' ? reason : undefined };
    }
    if (body['status'] === 'complete_metadata') {
      return { kind: 'large', bytes: Number(body['response_payload_size'] ?? 0) };
    }
    if (typeof body['error'] === 'string') {
      const { category } = body;
      const words = this.#caller.transport.redact(body['error']);
      throw failed(requestType, requestId, words, typeof category === 'string' ? category : 'unknown', undefined);
    }
    return { kind: 'result', result: { json } };
  }

  /** Why there is no result yet; once a minute for each reason. */
  #note(reason: string): void {
    const now = performance.now();
    if (now - (this.#noted.get(reason) ?? -Infinity) < 60_000) return;
    this.#noted.delete(reason);
    this.#noted.set(reason, now);
    if (this.#noted.size > MAX_NOTED) this.#noted.delete(this.#noted.keys().next().value!);
    this.#caller.notice(`The Tinker server lets requests wait: ${this.#caller.transport.redact(reason)}`);
  }
}

type Answer =
  | { readonly kind: 'result'; readonly result: FutureResult }
  | { readonly kind: 'large'; readonly bytes: number }
  | { readonly kind: 'again'; readonly reason: string | undefined }
  | { readonly kind: 'bad-request'; readonly words: string }
  | { readonly kind: 'unpaid'; readonly words: string }
  | { readonly kind: 'trouble'; readonly error: Error; readonly slowly: boolean };

function failed(
  requestType: RequestType,
  requestId: string,
  words: string,
  category: string | undefined,
  status: number | undefined,
): Error {
  return clientError(`${requestType} failed on the Tinker server: ${words}`, {
    code: 'tinker-request-failed',
    category: category ?? 'unknown',
    requestId,
    status,
  });
}

function queueReason(words: string): string | undefined {
  return words === '' ? undefined : words;
}
