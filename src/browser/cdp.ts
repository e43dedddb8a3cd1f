// The Chrome DevTools Protocol over a pair of pipes: typed calls out, results and events in. It knows framing,
// ids and sessions, and nothing of pages. Messages are JSON documents ended by a NUL byte.
// Source: https://chromedevtools.github.io/devtools-protocol/ and `--remote-debugging-pipe` in Chromium.

import type { Readable, Writable } from 'node:stream';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import { browserClosed, pageClosed, protocolError } from './failures.ts';

export type CdpMethod = keyof ProtocolMapping.Commands;
export type CdpEvent = keyof ProtocolMapping.Events;
/** Parameters of a method: `[]`, `[params?]` or `[params]`. */
export type CdpParams<M extends CdpMethod> = ProtocolMapping.Commands[M]['paramsType'];
export type CdpResult<M extends CdpMethod> = ProtocolMapping.Commands[M]['returnType'];
export type CdpEventParams<E extends CdpEvent> = ProtocolMapping.Events[E][0];

/** One target's side of the connection (or the browser's own, which has no id). */
export interface CdpSession {
  readonly id: string | undefined;
  /** Calls are carried out in the order they are made. Rejects with a `TabwrightError` of boundary `browser`. */
  send<M extends CdpMethod>(method: M, ...params: CdpParams<M>): Promise<CdpResult<M>>;
  /** Returns what ends the subscription. */
  on<E extends CdpEvent>(event: E, listener: (params: CdpEventParams<E>) => void): () => void;
}

/** An event of any session, as it came in. */
export type CdpMessage = { readonly method: string; readonly params: unknown; readonly sessionId: string | undefined };

export interface CdpConnection {
  readonly root: CdpSession;
  readonly closed: boolean;
  session(id: string): CdpSession;
  /** A call whose method is not known when this is compiled. Fails as `CdpSession.send` does. */
  request(method: string, params: object, sessionId: string | undefined): Promise<unknown>;
  /** Every event of every session, in order. Returns what ends the subscription. */
  onMessage(listener: (message: CdpMessage) => void): () => void;
  /** Rejects everything in flight; later calls fail at once. */
  close(): void;
}

type Pending = {
  readonly method: string;
  readonly sessionId: string | undefined;
  resolve(result: unknown): void;
  reject(error: Error): void;
};

type Incoming = {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly sessionId?: string;
};

export function connectCdp(input: Writable, output: Readable): CdpConnection {
  const pending = new Map<number, Pending>();
  const listeners = new Map<string, Set<(params: unknown) => void>>();
  const observers = new Set<(message: CdpMessage) => void>();
  let lastId = 0;
  let closed = false;
  let corked = false;

  /** What is said in one turn of the event loop goes out as one write: a batch of calls costs one system call. */
  const write = (message: string): void => {
    if (!corked) {
      corked = true;
      input.cork();
      process.nextTick(() => {
        corked = false;
        input.uncork();
      });
    }
    input.write(message);
  };

  const settleSession = (sessionId: string): void => {
    for (const [id, call] of pending) {
      if (call.sessionId !== sessionId) continue;
      pending.delete(id);
      call.reject(pageClosed(call.method));
    }
  };

  const receive = (message: Incoming): void => {
    if (message.id !== undefined) {
      const call = pending.get(message.id);
      if (call === undefined) return; // its session went away while the answer was on the way
      pending.delete(message.id);
      if (message.error === undefined) call.resolve(message.result);
      else call.reject(protocolError(call.method, message.error.code, message.error.message));
      return;
    }
    if (message.method === undefined) return;
    const { method, params, sessionId } = message;
    for (const observer of [...observers]) observer({ method, params, sessionId });
    for (const listener of [...(listeners.get(key(message.sessionId, message.method)) ?? [])]) listener(message.params);
    // Chromium leaves calls to a vanished target unanswered, so they are settled here.
    if (message.method === 'Target.detachedFromTarget')
      settleSession((message.params as { sessionId: string }).sessionId);
    if (message.method === 'Inspector.targetCrashed' && message.sessionId !== undefined)
      settleSession(message.sessionId);
  };

  const close = (): void => {
    if (closed) return;
    closed = true;
    for (const call of pending.values()) call.reject(browserClosed({ method: call.method }));
    pending.clear();
    listeners.clear();
    observers.clear();
    input.destroy();
    output.destroy();
  };

  readMessages(output, receive);
  output.once('close', close);
  // A broken pipe means that the browser is gone; `close` says so to every caller.
  for (const stream of [input, output]) stream.on('error', close);

  const request = (method: string, params: object, sessionId: string | undefined): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (closed) {
        reject(browserClosed({ method }));
        return;
      }
      const callId = ++lastId;
      pending.set(callId, { method, sessionId, resolve, reject });
      write(`${JSON.stringify({ id: callId, method, params, sessionId })}\0`);
    });

  const session = (id: string | undefined): CdpSession => ({
    id,
    send: <M extends CdpMethod>(method: M, ...params: CdpParams<M>) =>
      request(method, params[0] ?? {}, id) as Promise<CdpResult<M>>,
    on: (event, listener) => {
      const name = key(id, event);
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(listener as (params: unknown) => void));
      return () => {
        set.delete(listener as (params: unknown) => void);
        if (set.size === 0) listeners.delete(name);
      };
    },
  });

  return {
    root: session(undefined),
    get closed() {
      return closed;
    },
    session,
    request,
    onMessage: (observer) => {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
    close,
  };
}

function key(sessionId: string | undefined, event: string): string {
  return `${sessionId ?? ''} ${event}`;
}

/** Splits the byte stream at NUL bytes; a message may span many chunks, a chunk hold many messages. */
function readMessages(output: Readable, receive: (message: Incoming) => void): void {
  let parts: Buffer[] = [];
  output.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      parts.push(chunk.subarray(start, end));
      const text = (parts.length === 1 ? parts[0] : Buffer.concat(parts)).toString('utf8');
      parts = [];
      start = end + 1;
      receive(JSON.parse(text) as Incoming);
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  });
}
