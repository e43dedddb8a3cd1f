// Kernel's HTTP API as a server that listens, and shuts down with every browser ended.

import { TabwrightError } from '../../core/index.ts';
import { listenOnHttp, type HttpServer } from '../http-server.ts';
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

export type KernelServer = HttpServer;

export async function serveKernel(options: KernelServerOptions): Promise<KernelServer> {
  const { openSession, host = '127.0.0.1', port, token, maxBrowsers = 16, onFailure } = options;
  if (token === undefined && !isLoopbackHost(host)) {
    const message = `Whoever reaches ${host} could run code in the browsers. Set a token, or listen on 127.0.0.1.`;
    throw new TabwrightError('config', message, { code: 'token-needed', details: { host } });
  }
  const service = createKernelService({ openSession, maxBrowsers, onFailure });
  const app = createApp({ service, token, onFailure });
  const end = (): PromiseLike<void> => service[Symbol.asyncDispose]();
  return listenOnHttp({ fetch: app.fetch, host, port, end });
}
