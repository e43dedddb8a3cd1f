// Tinker's API and OpenAI's as routes, with what is common to all of them: who may ask, how failures look, what is counted.

import { Hono } from 'hono';
import { isAbort } from '../../core/index.ts';
import { openAiFailure } from '../openai/failures.ts';
import { createOpenAiRoutes } from '../openai/routes.ts';
import { guard } from './guard.ts';
import { refusal, refusalOf } from './refusals.ts';
import { addAccountRoutes } from './routes-account.ts';
import { addCheckpointRoutes, DOWNLOADS } from './routes-checkpoints.ts';
import { addFutureRoutes } from './routes-futures.ts';
import { addSamplingRoutes } from './routes-sampling.ts';
import { addSessionRoutes, type ClientFlags } from './routes-session.ts';
import { addTrainingRoutes } from './routes-training.ts';
import type { Services } from './services.ts';

export type AppOptions = {
  readonly services: Services;
  /** Default: none, and loopback alone. */
  readonly key: string | undefined;
  readonly clientConfig: ClientFlags;
  readonly cancelEnabled: boolean;
};

export const API = '/api/v1';
export const OPENAI = '/v1';

export function createApp({ services, key, clientConfig, cancelEnabled }: AppOptions): Hono {
  const { metrics, onFailure } = services.parts;
  const app = new Hono();
  app.onError((error, context) => {
    const { status, body } = context.req.path.startsWith(`${OPENAI}/`) ? openAiFailure(error) : refusalOf(error);
    if (status === 500 && !isAbort(error)) onFailure(error);
    return context.json(body, status);
  });
  app.notFound((context) => {
    const { method, path } = context.req;
    const unknown = refusal('not-found', `${method} ${path} is not served here.`);
    const { status, body } = path.startsWith(`${OPENAI}/`) ? openAiFailure(unknown) : refusalOf(unknown);
    return context.json(body, status);
  });
  app.use(async (context, next) => {
    await next();
    metrics.request(context.req.routePath, context.res.status);
  });
  app.use(guard(key, (path) => path === '/healthz' || path === `${API}/healthz` || isDownload(path)));
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/metrics', async (context) =>
    context.body(await metrics.text(), 200, { 'Content-Type': metrics.contentType }),
  );
  const api = new Hono();
  addSessionRoutes(api, { services, clientConfig, cancelEnabled });
  addTrainingRoutes(api, services);
  addFutureRoutes(api, services);
  addSamplingRoutes(api, services);
  addCheckpointRoutes(api, services, API);
  addAccountRoutes(api, services);
  app.route(API, api);
  app.route(OPENAI, createOpenAiRoutes(services));
  return app;
}

/** Their addresses hold a token of their own. */
function isDownload(path: string): boolean {
  return path.startsWith(`${API}${DOWNLOADS}/`);
}
