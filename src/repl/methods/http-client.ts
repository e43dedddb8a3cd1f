// Requests of the session's own, beside the browser. They go the same way out as the browser does (an HTTP proxy on a Unix
// socket, when jailed), so what the proxy refuses is refused here too.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { helperFailed } from './failures.ts';

export type HttpGet = (options: {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}) => Promise<{ readonly status: number; readonly location: string | undefined; readonly body: string }>;

/** Longer bodies would not fit into an answer to the cell. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export type HttpGetOptions = {
  /** Unix socket of an HTTP proxy; without one, requests go out directly. */
  readonly proxySocket?: string;
};

export function createHttpGet({ proxySocket }: HttpGetOptions = {}): HttpGet {
  return async ({ url, headers, signal }) => {
    const response = await (proxySocket === undefined
      ? direct(url, headers, signal)
      : proxied(proxySocket, url, headers, signal));
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) {
        response.destroy();
        throw helperFailed('httpGet', `the body of ${url.href} is longer than ${MAX_BODY_BYTES} bytes`);
      }
      chunks.push(chunk);
    }
    return {
      status: response.statusCode!,
      location: response.headers.location,
      body: Buffer.concat(chunks).toString('utf8'),
    };
  };
}

type Headers = Readonly<Record<string, string>>;

function direct(url: URL, headers: Headers, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return answer(url, request(url, { headers, signal }));
}

async function proxied(socketPath: string, url: URL, headers: Headers, signal: AbortSignal): Promise<IncomingMessage> {
  if (url.protocol === 'http:') {
    return answer(url, httpRequest({ socketPath, path: url.href, headers: { ...headers, host: url.host }, signal }));
  }
  const authority = `${url.hostname}:${url.port === '' ? 443 : url.port}`;
  const tunnel = await new Promise<Socket>((resolve, reject) => {
    const connect = httpRequest({ socketPath, method: 'CONNECT', path: authority, signal });
    connect.once('connect', ({ statusCode }, socket: Socket) => {
      if (statusCode === 200) resolve(socket);
      else {
        socket.destroy();
        reject(helperFailed('httpGet', `the way to ${authority} was refused with status ${statusCode}`));
      }
    });
    connect.once('error', (error) => reject(unreachable(url, error)));
    connect.end();
  });
  const createConnection = () => tlsConnect({ socket: tunnel, servername: url.hostname });
  return answer(url, httpsRequest(url, { headers, signal, createConnection }));
}

function answer(url: URL, request: ReturnType<typeof httpRequest>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', (error) => reject(unreachable(url, error)));
    request.end();
  });
}

function unreachable(url: URL, error: Error): Error {
  return helperFailed('httpGet', `${url.href} could not be reached: ${error.message}`, error);
}
