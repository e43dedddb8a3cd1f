// One request to a Tinker server and its reply, whatever the status. Knows addresses, the key and sizes; does not retry
// and does not judge. The key leaves this file in one header only.

import { linkedController } from '../../util/index.ts';
import { formatJson, JSON_TYPE, PROTOBUF, tooLarge } from '../wire/index.ts';
import { clientError } from './client-error.ts';

export type TransportOptions = {
  /** Of the server, without `/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Bytes of one reply. */
  readonly maxReplyBytes: number;
  readonly userAgent: string;
};

export type WireRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** After `/api/v1/`. */
  readonly path: string;
  /** An object goes as JSON, bytes as protobuf. */
  readonly body?: object | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

export type WireReply = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
};

export class Transport {
  readonly baseUrl: string;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.baseUrl = checkBaseUrl(options.baseUrl);
  }

  /** Rejects with a retryable error where there is no reply: no connection, or none in time. */
  async send(request: WireRequest): Promise<WireReply> {
    const { method, path, body, timeoutMs, signal } = request;
    const { apiKey, userAgent, maxReplyBytes } = this.#options;
    const { controller, unlink } = linkedController(signal);
    const late = clientError(`The Tinker server did not answer ${path} within ${timeoutMs / 1000} s.`, {
      code: 'tinker-timeout',
      path,
      retryable: true,
    });
    const timer = setTimeout(() => controller.abort(late), timeoutMs);
    try {
      signal?.throwIfAborted();
      const response = await fetch(`${this.baseUrl}/api/v1/${path}`, {
        method,
        // Archives are answered with a redirect that is wanted, not followed.
        redirect: 'manual',
        signal: controller.signal,
        headers: {
          accept: JSON_TYPE,
          ...(body === undefined ? {} : { 'content-type': body instanceof Uint8Array ? PROTOBUF : JSON_TYPE }),
          'user-agent': userAgent,
          ...request.headers,
          'x-api-key': apiKey,
        },
        ...(body === undefined
          ? {}
          : { body: body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : formatJson(body) }),
      });
      return {
        status: response.status,
        headers: response.headers,
        body: await readBounded(response, maxReplyBytes, path),
      };
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      if (controller.signal.aborted) throw late;
      if (!(error instanceof TypeError)) throw error;
      throw clientError(`The Tinker server at ${this.baseUrl} cannot be reached (${reason(error)}). Is it running?`, {
        code: 'tinker-unreachable',
        path,
        retryable: true,
      });
    } finally {
      clearTimeout(timer);
      unlink();
    }
  }

  /** A text without the key, should a server have repeated it. */
  redact(text: string): string {
    return text.replaceAll(this.#options.apiKey, '[key]');
  }
}

function checkBaseUrl(text: string): string {
  const bad = (problem: string): Error =>
    clientError(`The base URL ${problem}; give one such as http://127.0.0.1:8000.`, { code: 'bad-base-url' });
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw bad(`"${text}" is no URL`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw bad(`"${text}" is neither http nor https`);
  // A password in a URL ends up in logs and run folders.
  if (url.username !== '' || url.password !== '') throw bad(`of ${url.host} holds a password`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

async function readBounded(response: Response, limit: number, path: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  if (response.body === null) return new Uint8Array();
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > limit) throw tooLarge(`bytes of the reply to ${path}`, size, limit);
    parts.push(part);
  }
  return parts.length === 1 ? parts[0] : new Uint8Array(Buffer.concat(parts));
}

function reason(error: TypeError): string {
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error.message;
}
