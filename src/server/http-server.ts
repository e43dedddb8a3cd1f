// A server of this project as a process sees it: listening on an address, and shutting down so that every answer is given
// that can still be given. What it serves comes in as a function; who may ask is that function's to say.

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { TabwrightError } from '../core/index.ts';

export type HttpServerOptions = {
  /** In words of Node's own: the types of the library behind want a browser's, which whoever installs this may not have. */
  readonly fetch: (
    request: Request,
    raw: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
  ) => unknown;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** How long a connection without a request stays open. Default: Node's, 5 s. */
  readonly keepAliveMs?: number;
  /** Ends what is served; waited for before connections are cut, and called too where listening fails. */
  readonly end: () => PromiseLike<void>;
};

export interface HttpServer extends AsyncDisposable {
  /** What a client takes as its base URL. */
  readonly url: string;
}

/** Answers that are being written get this long when the server shuts down. */
const LAST_ANSWERS_MS = 2_000;

export async function listenOnHttp({ fetch, host, port, keepAliveMs, end }: HttpServerOptions): Promise<HttpServer> {
  const server = createAdaptorServer({
    fetch: (request, raw) => fetch(request, raw as Parameters<typeof fetch>[1]),
    overrideGlobalObjects: false,
  }) as Server;
  if (keepAliveMs !== undefined) server.keepAliveTimeout = keepAliveMs;
  try {
    await listen(server, host, port);
  } catch (error) {
    await end();
    throw error;
  }
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      await end();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'another program listens there' : message;
    throw new TabwrightError('config', `The server cannot listen on ${host}:${port}: ${why}. Choose another --port.`, {
      code: 'cannot-listen',
      details: { host, port },
      cause: error,
    });
  }
}
