// The routes of Kernel's API that are served here, with its status codes and shapes. What a browser does is behind
// `KernelService`; this is only how it is asked for.

import { Hono, type Context } from 'hono';
import { isAbort } from '../../core/index.ts';
import { browserAnswer, poolAnswer } from './answers.ts';
import type { Browser } from './browsers.ts';
import { cropPng } from './crop-png.ts';
import { describeFailure, failure, type Failure } from './failures.ts';
import { guard } from './guard.ts';
import type { Answer } from './keyed-calls.ts';
import type { KernelService } from './kernel-service.ts';
import { readBody, readQuery, withCaller } from './read-request.ts';
import {
  acquireBody,
  createBrowserBody,
  createPoolBody,
  deletePoolBody,
  page,
  releaseBody,
  replBody,
  screenshotBody,
  updatePoolBody,
} from './schemas.ts';

export type AppOptions = {
  readonly service: KernelService;
  /** Default: none, and loopback alone. */
  readonly token: string | undefined;
  /** Told of every failure that is ours. */
  readonly onFailure: (error: unknown) => void;
};

export function createApp({ service, token, onFailure }: AppOptions): Hono {
  const app = new Hono();
  const fail = (error: unknown): Failure => {
    const described = describeFailure(error);
    if (described.status === 500 && !isAbort(error)) onFailure(error);
    return described;
  };
  const serving = <T>(context: Context, work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withCaller({ context, ending: service.ending }, work);
  const list = <T>(context: Context, all: readonly T[], show: (one: T) => object): Response => {
    const { limit, offset } = readQuery(context, page);
    const end = Math.min(all.length, offset + limit);
    context.header('X-Has-More', String(end < all.length));
    context.header('X-Next-Offset', String(end));
    return context.json(all.slice(offset, end).map(show));
  };

  app.onError((error, context) => {
    const { status, body } = fail(error);
    return context.json(body, status);
  });
  app.notFound((context) => {
    const { status, body } = describeFailure(
      failure('not-found', `${context.req.method} ${context.req.path} is not served here.`),
    );
    return context.json(body, status);
  });
  app.use(guard(token));

  app.post('/browsers', async (context) => {
    const body = await readBody(context, createBrowserBody);
    const browser = await serving(context, (signal) => service.createBrowser(body, signal));
    return context.json(browserAnswer(browser));
  });
  app.get('/browsers', (context) => list(context, service.browsers.list, browserAnswer));
  app.get('/browsers/:id', (context) => {
    const browser = service.browsers.get(context.req.param('id'));
    service.browsers.touch(browser); // there is no protocol endpoint that heartbeats could go to
    return context.json(browserAnswer(browser));
  });
  app.delete('/browsers/:id', async (context) => {
    await service.browsers.remove(service.browsers.get(context.req.param('id')), { reuse: false });
    return context.body(null, 204);
  });
  app.post('/browsers/:id/repl', async (context) => {
    const browser = service.browsers.get(context.req.param('id'));
    const { code, timeout_sec, reset } = await readBody(context, replBody);
    const key = context.req.header('idempotency-key');
    if (key !== undefined && key.length > 255) throw failure('bad-request', 'Idempotency-Key is longer than 255.');
    const call = async (signal: AbortSignal): Promise<Answer> => {
      try {
        const request = { code, timeoutMs: timeout_sec * 1000, reset, signal };
        return { status: 200, body: JSON.stringify(await browser.session.execute(request)) };
      } catch (error) {
        const { status, body } = fail(error);
        return { status, body: JSON.stringify(body) };
      }
    };
    const answer = await serving(context, (signal) =>
      service.browsers.use(browser, () => browser.keyedCalls.run(key, signal, call)),
    );
    return context.body(answer.body, answer.status as Failure['status'], { 'Content-Type': 'application/json' });
  });
  app.post('/browsers/:id/computer/screenshot', async (context) => {
    const browser = service.browsers.get(context.req.param('id'));
    const { region } = await readBody(context, screenshotBody);
    const png = await serving(context, (signal) =>
      service.browsers.use(browser, () => browser.session.screenshot({ signal })),
    );
    if (png === undefined) throw failure('no-screenshot', 'The page does not answer, so there is no picture of it.');
    const shown = region === undefined ? png : cropPng(png, region);
    return context.body(new Uint8Array(shown), 200, { 'Content-Type': 'image/png' });
  });

  app.post('/browser_pools', async (context) =>
    context.json(poolAnswer(service.createPool(await readBody(context, createPoolBody)))),
  );
  app.get('/browser_pools', (context) => list(context, service.pools, poolAnswer));
  app.get('/browser_pools/:id', (context) => context.json(poolAnswer(service.getPool(context.req.param('id')))));
  app.patch('/browser_pools/:id', async (context) => {
    const pool = service.getPool(context.req.param('id'));
    await service.updatePool(pool, await readBody(context, updatePoolBody));
    return context.json(poolAnswer(pool));
  });
  app.delete('/browser_pools/:id', async (context) => {
    const pool = service.getPool(context.req.param('id'));
    await service.deletePool(pool, await readBody(context, deletePoolBody));
    return context.body(null, 204);
  });
  app.post('/browser_pools/:id/acquire', async (context) => {
    const pool = service.getPool(context.req.param('id'));
    const body = await readBody(context, acquireBody);
    const browser = await serving(context, (signal) => service.acquire(pool, body, signal));
    return browser === undefined ? context.body(null, 204) : context.json(browserAnswer(browser));
  });
  app.post('/browser_pools/:id/release', async (context) => {
    const { id } = service.getPool(context.req.param('id'));
    const { session_id, reuse } = await readBody(context, releaseBody);
    const browser = leasedFrom(id, service.browsers.get(session_id));
    await service.browsers.remove(browser, { reuse });
    return context.body(null, 204);
  });
  app.post('/browser_pools/:id/flush', async (context) => {
    await service.getPool(context.req.param('id')).pool.flush();
    return context.body(null, 204);
  });
  return app;
}

function leasedFrom(poolId: string, browser: Browser): Browser {
  if (browser.pool?.id !== poolId) throw failure('not-found', `The browser ${browser.id} is none of this pool's.`);
  return browser;
}
