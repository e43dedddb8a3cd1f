// Which requests of one sampler have ended, asked for many at a time where the server offers that. A wait here only says
// when a result is worth fetching: whatever goes wrong ends all waits, and each result is polled for by itself.
// Source: the SDK's poller of retrieve_futures.

import { abortable, sleep } from '../../util/index.ts';
import { retrieveFuturesReplySchema } from '../wire/index.ts';
import type { Caller } from './caller.ts';
import { isTinkerError } from './client-error.ts';

export type CompletionsOptions = {
  readonly caller: Caller;
  readonly samplerId: string;
  /** Which of the sampler's clients this is. */
  readonly client: number;
};

/** Answers to nothing but an acknowledgement come at once. */
const ACKNOWLEDGE_MS = 5_000;
const TRIES = 5;

export class Completions {
  readonly #options: CompletionsOptions;
  readonly #waiting = new Map<string, () => void>();
  /** Requests under way whose ids are not known yet, by number. */
  readonly #unnamed = new Set<number>();
  /**
   * Ended, and nobody waited: the news may come before the promise. With the number of the newest request that it can be
   * of; once no unnamed one is as old as that, it is of a request that was given up, or it was told twice.
   */
  readonly #early = new Map<string, number>();
  #begun = 0;
  /** Fetched, which the server is told so that it may forget them. */
  readonly #fetched = new Set<string>();
  #cursor = 0;
  #runs = false;
  /** False once this server was found not to answer. */
  #works = true;

  constructor(options: CompletionsOptions) {
    this.#options = options;
  }

  /** News of requests that nobody has waited for. */
  get unclaimed(): number {
    return this.#early.size;
  }

  /** A request is about to be sent; its number is given to `wait`, and to `end` whatever becomes of it. */
  begin(): number {
    this.#unnamed.add(++this.#begun);
    return this.#begun;
  }

  /** Resolves when the request has ended, or when that cannot be learned in this way. */
  async wait(requestId: string, request: number, signal: AbortSignal): Promise<void> {
    const hasEnded = this.#early.delete(requestId);
    this.end(request);
    if (!this.#works || hasEnded) return;
    const ended = new Promise<void>((resolve) => this.#waiting.set(requestId, resolve));
    if (!this.#runs) void this.#run();
    try {
      await abortable(ended, signal);
    } catch (error) {
      this.#waiting.delete(requestId);
      throw error;
    }
  }

  /** The request has its id, or will never have one. */
  end(request: number): void {
    if (!this.#unnamed.delete(request)) return;
    const [oldest = Infinity] = this.#unnamed;
    // Both are in order of their numbers.
    for (const [id, newest] of this.#early) {
      if (newest >= oldest) return;
      this.#early.delete(id);
    }
  }

  /** The result has been read. */
  fetched(requestId: string): void {
    if (this.#works) this.#fetched.add(requestId);
  }

  /** For as long as somebody waits; never rejects. */
  async #run(): Promise<void> {
    this.#runs = true;
    let failures = 0;
    const never = new AbortController().signal;
    const { pacing } = this.#options.caller;
    while (this.#waiting.size > 0 && this.#works) {
      const asked = performance.now();
      try {
        const news = await this.#ask();
        failures = 0;
        // A server that answers at once with nothing new must not be asked without pause.
        const early = pacing.repollMs - (performance.now() - asked);
        if (!news && early > 0) await sleep(early, never);
      } catch (error) {
        const isPassing = isTinkerError(error, 'tinker-timeout', 'tinker-unreachable', 'tinker-unavailable');
        if (!isPassing || ++failures > TRIES) this.#works = false;
        else await sleep(Math.min(pacing.firstRetryMs * 2 ** (failures - 1), pacing.longestRetryMs), never);
      }
    }
    this.#runs = false;
    if (!this.#works) {
      for (const wake of this.#waiting.values()) wake();
      this.#waiting.clear();
      this.#fetched.clear();
    } else if (this.#fetched.size > 0) {
      await this.#ask().catch(() => undefined); // the server forgets in its own time too
    }
  }

  /** One poll; true if something has ended. */
  async #ask(): Promise<boolean> {
    const { caller, samplerId, client } = this.#options;
    const path = 'retrieve_futures';
    const told = [...this.#fetched];
    const isAwaited = this.#waiting.size > 0;
    const reply = await caller.transport.send({
      method: 'POST',
      path,
      body: {
        target: { type: 'sampling_session', sampling_session_id: samplerId, cloned_sampler_id: client },
        prev_cursor: this.#cursor,
        ...(isAwaited ? {} : { timeout: 0 }),
        retrieved_request_ids: told.sort(),
      },
      timeoutMs: isAwaited ? caller.pacing.pollMs : ACKNOWLEDGE_MS,
    });
    if (reply.status >= 300) throw caller.refused(reply, path);
    const { completions, cursor } = caller.read(retrieveFuturesReplySchema, reply, path);
    for (const id of told) this.#fetched.delete(id);
    this.#cursor = cursor;
    for (const { request_id: id } of completions) {
      const wake = this.#waiting.get(id);
      if (wake === undefined && this.#unnamed.size > 0) {
        this.#early.delete(id); // one that is told again goes to the end
        this.#early.set(id, this.#begun);
      }
      this.#waiting.delete(id);
      wake?.();
    }
    return completions.length > 0;
  }
}
