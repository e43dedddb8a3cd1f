// Requests with the protocol's retry rules, the only layer that has any: no connection, no answer in time, 408, 429 and
// 5xx are tried again with growing waits for five minutes; 402 waits for the account; everything else is final.

import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { sleep } from '../../util/index.ts';
import { isProtobuf, parsePlainJson, type DecodeLimits, type WireJson } from '../wire/index.ts';
import { clientError, isTinkerError, refusal, unavailable } from './client-error.ts';
import type { Pacing } from './pacing.ts';
import type { Transport, WireReply, WireRequest } from './transport.ts';

export type CallerOptions = {
  readonly transport: Transport;
  readonly pacing: Pacing;
  readonly limits: DecodeLimits;
  /** Of a message for people: a server's note, a long silence. */
  readonly onNotice: (message: string) => void;
};

export type Call = Omit<WireRequest, 'timeoutMs' | 'method'> & {
  readonly method?: WireRequest['method'];
  readonly timeoutMs?: number;
  /** Statuses that the caller deals with itself. */
  readonly accepts?: readonly number[];
};

/** SkyRL says 409 where a name is taken; others mean a passing conflict. A few tries serve both. */
const CONFLICT_TRIES = 3;

export class Caller {
  readonly transport: Transport;
  readonly pacing: Pacing;
  readonly limits: DecodeLimits;
  readonly notice: (message: string) => void;

  constructor({ transport, pacing, limits, onNotice }: CallerOptions) {
    this.transport = transport;
    this.pacing = pacing;
    this.limits = limits;
    this.notice = onNotice;
  }

  /** The reply as `schema` reads it. */
  async json<T extends z.ZodType>(schema: T, call: Call): Promise<z.infer<T>> {
    return this.read(schema, await this.send(call), call.path);
  }

  /** A reply that was accepted: 2xx, or one of `accepts`. */
  async send(call: Call): Promise<WireReply> {
    const { method = 'POST', timeoutMs = this.pacing.requestMs, accepts = [], ...rest } = call;
    // The same on every try, so that a server can tell a repetition.
    const headers =
      method === 'GET' ? rest.headers : { 'x-idempotency-key': `tabwright-${randomUUID()}`, ...rest.headers };
    const request: WireRequest = { ...rest, method, timeoutMs, ...(headers === undefined ? {} : { headers }) };
    const started = performance.now();
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#once(request, accepts);
      if ('reply' in outcome) return outcome.reply;
      const wait = this.#wait({ ...outcome, attempt, elapsedMs: performance.now() - started });
      if (wait === undefined) throw outcome.error;
      await sleep(wait, call.signal ?? new AbortController().signal);
    }
  }

  async #once(request: WireRequest, accepts: readonly number[]): Promise<{ readonly reply: WireReply } | Failed> {
    let reply: WireReply;
    try {
      reply = await this.transport.send(request);
    } catch (error) {
      if (isTinkerError(error, 'tinker-unreachable', 'tinker-timeout')) return { error };
      throw error;
    }
    this.#passOnNote(reply);
    const { status } = reply;
    if ((status >= 200 && status < 300) || accepts.includes(status)) return { reply };
    return { error: this.refused(reply, request.path), failed: reply };
  }

  /** A reply that was no success, as the failure that it means. */
  refused(reply: WireReply, path: string): ReturnType<typeof refusal> {
    const { status } = reply;
    const passing = status === 408 || status === 429 || status >= 500;
    return (passing ? unavailable : refusal)(status, path, this.words(reply));
  }

  /** Milliseconds until the next try; undefined where there is none. */
  #wait({ attempt, error, failed, elapsedMs }: Failed & { attempt: number; elapsedMs: number }): number | undefined {
    const { firstRetryMs, longestRetryMs, retryBudgetMs, billingPauseMs, billingBudgetMs } = this.pacing;
    const said = failed?.headers.get('x-should-retry');
    if (said === 'false') return undefined;
    const status = failed?.status;
    if (status === 402) return elapsedMs < billingBudgetMs ? billingPauseMs : undefined;
    if (status === 409 && attempt + 1 >= CONFLICT_TRIES && said !== 'true') return undefined;
    if (!error.retryable && status !== 409 && said !== 'true') return undefined;
    if (elapsedMs >= retryBudgetMs) return undefined;
    const asked = failed === undefined ? undefined : retryAfterMs(failed.headers);
    if (asked !== undefined && asked <= 60_000) return asked;
    // Up to a quarter less, so that many clients do not come back together.
    return Math.min(firstRetryMs * 2 ** attempt, longestRetryMs) * (1 - Math.random() / 4);
  }

  read<T extends z.ZodType>(schema: T, reply: WireReply, path: string): z.infer<T> {
    const parsed = schema.safeParse(this.parse(reply, path));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw clientError(`The reply to ${path} is not Tinker's: ${issue.path.join('.')}: ${issue.message}`, {
      code: 'tinker-protocol',
      status: reply.status,
      path,
    });
  }

  parse(reply: WireReply, path: string): WireJson {
    try {
      return reply.body.length === 0 ? {} : parsePlainJson(reply.body, this.limits);
    } catch (error) {
      throw clientError(`The reply to ${path} is no JSON, so no Tinker server gave it. Is the base URL right?`, {
        code: 'tinker-protocol',
        status: reply.status,
        path,
        cause: error,
      });
    }
  }

  /** What a failed reply says, short and without the key. */
  words(reply: WireReply): string {
    if (isProtobuf(reply.headers.get('content-type'))) return '';
    // The key goes first: of one that lies across the cut half would stay.
    return failureText(this.transport.redact(new TextDecoder().decode(reply.body)).slice(0, 20_000));
  }

  #passOnNote({ headers }: WireReply): void {
    const note = headers.get('x-deprecation-note');
    if (note !== null) this.notice(`The Tinker server says: ${this.transport.redact(note)}`);
  }
}

type Failed = { readonly error: ReturnType<typeof refusal>; readonly failed?: WireReply | undefined };

function retryAfterMs(headers: Headers): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? NaN);
  if (ms >= 0) return ms;
  const seconds = Number(headers.get('retry-after') ?? NaN);
  return seconds >= 0 ? 1000 * seconds : undefined;
}

/** `{"error"}` of Tinker, `{"detail"}` of FastAPI as text or as a list of issues, anything else as it is. */
export function failureText(text: string): string {
  const short = (value: string): string => (value.length > 600 ? `${value.slice(0, 600)}...` : value);
  try {
    const body = JSON.parse(text) as unknown;
    if (typeof body !== 'object' || body === null) return short(text);
    const { error, detail, message } = body as Record<string, unknown>;
    for (const found of [error, detail, message]) if (typeof found === 'string') return short(found);
    if (Array.isArray(detail)) return short(detail.map(issueText).join('; '));
    return short(JSON.stringify(error ?? detail ?? body));
  } catch {
    return short(text.trim());
  }
}

function issueText(issue: unknown): string {
  if (typeof issue !== 'object' || issue === null) return String(issue);
  const { loc, msg } = issue as { loc?: unknown; msg?: unknown };
  return `${Array.isArray(loc) ? loc.join('.') : ''}: ${typeof msg === 'string' ? msg : JSON.stringify(issue)}`;
}
