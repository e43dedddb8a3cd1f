// Tinker's API and OpenAI's as a server that listens, and shuts down with nothing half-written.

import { TabwrightError } from '../../core/index.ts';
import { listenOnHttp, type HttpServer } from '../http-server.ts';
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

export type TinkerServer = HttpServer;

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
  const end = (): PromiseLike<void> => services[Symbol.asyncDispose]();
  return listenOnHttp({ fetch: app.fetch, host, port, keepAliveMs: KEEP_ALIVE_MS, end });
}
