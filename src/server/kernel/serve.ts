// The server as a process sees it: listening, and shutting down with every browser ended and every answer given that
// can still be given.

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { TabwrightError } from '../../core/index.ts';
import type { OpenSession } from '../repl-session.ts';
import { createApp } from './app.ts';
import { isLoopbackHost } from './guard.ts';
import { createKernelService } from './kernel-service.ts';

export type KernelServerOptions = {
  readonly openSession: OpenSession;
  /** Default 127.0.0.1. Anything beyond loopback needs a token. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Whoever sends it as `Authorization: Bearer` may use the server. Default: no token, and programs of this machine. */
  readonly token?: string;
  /** Over all pools and beside them; default 16. */
  readonly maxBrowsers?: number;
  /** Told of every failure of the server's own, as it happens. */
  readonly onFailure: (error: unknown) => void;
};

export interface KernelServer extends AsyncDisposable {
  /** What a client takes as its base URL. */
  readonly url: string;
}

/** Answers that are being written get this long when the server shuts down. */
const LAST_ANSWERS_MS = 2_000;

export async function serveKernel(options: KernelServerOptions): Promise<KernelServer> {
  const { openSession, host = '127.0.0.1', port, token, maxBrowsers = 16, onFailure } = options;
  if (token === undefined && !isLoopbackHost(host)) {
    const message = `Whoever reaches ${host} could run code in the browsers. Set a token, or listen on 127.0.0.1.`;
    throw new TabwrightError('config', message, { code: 'token-needed', details: { host } });
  }
  const service = createKernelService({ openSession, maxBrowsers, onFailure });
  const app = createApp({ service, token, onFailure });
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  await listen(server, host, port);
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      await service[Symbol.asyncDispose]();
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
