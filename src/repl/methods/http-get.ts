// `httpGet`: a request of the session's own, not of the page: no cookies, no page's origin. It goes the same way out as
// the browser does (an HTTP proxy on a Unix socket, when jailed), so what the proxy refuses is refused here too.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { z } from 'zod';
import { withDeadline } from '../../util/index.ts';
import { helperFailed } from './failures.ts';
import { hostMethod, nonEmpty, seconds } from './method.ts';

export type HttpGet = (options: {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}) => Promise<{ readonly status: number; readonly location: string | undefined; readonly body: string }>;

const MAX_REDIRECTS = 10;
/** Longer bodies would not fit into an answer to the cell. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export const httpGet = hostMethod(
  {
    name: 'httpGet',
    namespace: 'browser',
    effect: 'looks',
    signature: 'httpGet(url, headers?, timeoutSec = 20)',
    description:
      'Fetches an address outside the browser, without its cookies, and returns the body as text. An answer that is not 2xx throws with its status. The time is for the whole body.',
    example: 'const data = JSON.parse(await httpGet("https://example.com/api/items"));',
  },
  [
    nonEmpty('url'),
    z.record(z.string(), z.string(), { error: 'headers must be an object of strings' }).nullish(),
    seconds('timeoutSec', 20),
  ],
  async ({ scope, httpGet: get, policy }, address, headers, timeoutSec) => {
    if (get === undefined)
      throw helperFailed('httpGet', 'requests outside the browser are switched off in this session');
    const ms = Math.min(timeoutSec * 1000, scope.left());
    const onExpiry = (): Error => helperFailed('httpGet', `${address} did not answer completely within ${ms / 1000}s`);
    return withDeadline({ ms, signal: scope.signal, onExpiry }, async (signal) => {
      let url = parse(address);
      let sent: Readonly<Record<string, string>> = { 'user-agent': 'Mozilla/5.0', ...lowerCased(headers ?? {}) };
      for (let hops = 0; ; hops++) {
        policy.checkUrl('httpGet', url.href);
        const { status, location, body } = await get({ url, headers: sent, signal });
        if (status >= 200 && status < 300) return body;
        if (location === undefined || status < 300 || status >= 400)
          throw helperFailed('httpGet', `${url.href} answered with status ${status}`);
        if (hops === MAX_REDIRECTS)
          throw helperFailed('httpGet', `${address} redirects more than ${MAX_REDIRECTS} times`);
        const next = parse(new URL(location, url).href);
        // What authorises at one origin is not told to another.
        if (next.origin !== url.origin) sent = without(sent, ['authorization', 'cookie', 'proxy-authorization']);
        url = next;
      }
    });
  },
);

function parse(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw helperFailed('httpGet', `${JSON.stringify(address)} is not an http or https address`);
  }
  return url;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function without(headers: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

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
