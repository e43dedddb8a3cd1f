// The server as a process sees it: listening, and shutting down with nothing half-written and every answer given that
// can still be given.

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { TabwrightError } from '../../core/index.ts';
import { isLoopbackHost } from '../kernel/guard.ts';
import { createApp } from './app.ts';
import { CLIENT_CONFIG, type ClientFlags } from './routes-session.ts';
import type { ServedModel } from './served-model.ts';
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from './service-parts.ts';
import { createServices } from './services.ts';

export type TinkerServerOptions = {
  /** At least one. Backends are the caller's to dispose of, after the server. */
  readonly models: readonly ServedModel[];
  /** Folder of the checkpoints; made if it is not there. */
  readonly folder: string;
  /** Default 127.0.0.1. Anything beyond loopback needs a key. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Whoever sends it as `X-API-Key` or `Authorization: Bearer` may use the server. Default: programs of this machine. */
  readonly key?: string;
  readonly limits?: Partial<ServerLimits>;
  /** Over what clients are told at their start. */
  readonly clientConfig?: ClientFlags;
  /** Whether clients are told that they may cancel samples. Default false. */
  readonly cancelEnabled?: boolean;
  /** Told of every failure of the server's own, as it happens. */
  readonly onFailure: (error: unknown) => void;
};

export interface TinkerServer extends AsyncDisposable {
  /** What a client takes as its base URL. */
  readonly url: string;
}

/** Answers that are being written get this long when the server shuts down. */
const LAST_ANSWERS_MS = 2_000;
/** Longer than clients keep a connection between two heartbeats. */
const KEEP_ALIVE_MS = 75_000;

export async function serveTinker(options: TinkerServerOptions): Promise<TinkerServer> {
  const { models, folder, host = '127.0.0.1', port, key, clientConfig, cancelEnabled = false, onFailure } = options;
  if (key === undefined && !isLoopbackHost(host)) {
    const message = `Whoever reaches ${host} could train and sample here. Set a key, or listen on 127.0.0.1.`;
    throw new TabwrightError('config', message, { code: 'token-needed', details: { host } });
  }
  const limits = { ...DEFAULT_SERVER_LIMITS, ...options.limits };
  const services = await createServices({ models, folder, limits, onFailure });
  const app = createApp({ services, key, clientConfig: { ...CLIENT_CONFIG, ...clientConfig }, cancelEnabled });
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  try {
    await listen(server, host, port);
  } catch (error) {
    await services[Symbol.asyncDispose]();
    throw error;
  }
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      await services[Symbol.asyncDispose]();
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
