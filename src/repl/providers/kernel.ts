// Sessions at Kernel: browsers of one pool there, over the official SDK. What a browser did before is wiped when it is
// acquired, because a pool hands out browsers as they were given back; one about which anything is doubtful is given
// back to be destroyed.

import type Kernel from '@onkernel/sdk';
import { connectRemoteCdp } from '../../browser/index.ts';
import { TabwrightError } from '../../core/index.ts';
import { abortable, sleep, withDeadline } from '../../util/index.ts';
import { cleanBrowser } from '../clean-browser.ts';
import { startHeartbeat } from '../heartbeat.ts';
import { createLease, type SessionLease } from '../lease.ts';
import type { ReplSession } from '../session.ts';
import { createKernelSession, statusOf } from './kernel-session.ts';
import type { SessionProvider } from './provider.ts';

export type KernelProviderOptions = {
  readonly client: Kernel;
  /** Id or name of the pool. */
  readonly pool: string;
  /** Episodes after which a browser is given back to be destroyed. Default 20. */
  readonly episodes?: number;
  /** Milliseconds between heartbeats; default 10000. Kernel's idle time is at least ten seconds. */
  readonly heartbeatMs?: number;
  /** Seconds that one request waits for a free browser; default 30. */
  readonly pollSeconds?: number;
  /** Milliseconds before asking again; after failures doubled each time, up to 16 times. Default 1000. */
  readonly retryMs?: number;
  readonly onEvent?: (event: KernelEvent) => void;
};

export type KernelEvent =
  | { readonly kind: 'none-free' }
  | { readonly kind: 'not-acquired'; readonly error: unknown }
  | { readonly kind: 'not-clean'; readonly browserId: string; readonly error: unknown }
  | { readonly kind: 'given-back'; readonly browserId: string; readonly reuse: boolean; readonly spoiled?: string };

/** As much of an acquired browser as is used. */
type Acquired = { readonly session_id: string; readonly cdp_ws_url?: string };

const PREPARE_MS = 60_000;
const RELEASE_MS = 30_000;
const MAX_UNCLEAN = 3;

export function createKernelProvider(options: KernelProviderOptions): SessionProvider {
  const { client, pool, episodes = 20, heartbeatMs = 10_000, pollSeconds = 30, retryMs = 1_000 } = options;
  const onEvent = options.onEvent ?? (() => undefined);
  const lifetime = new AbortController();
  const lent = new Set<SessionLease>();
  const served = new Map<string, number>();

  const giveBack = async (browserId: string, spoiled: string | undefined): Promise<void> => {
    const count = (served.get(browserId) ?? 0) + 1;
    const reuse = spoiled === undefined && count < episodes;
    if (reuse) served.set(browserId, count);
    else served.delete(browserId);
    // Giving back twice does nothing, so the client may try again.
    await client.browserPools.release(pool, { session_id: browserId, reuse }, { timeout: RELEASE_MS, maxRetries: 2 });
    onEvent({ kind: 'given-back', browserId, reuse, ...(spoiled === undefined ? {} : { spoiled }) });
  };

  /** Undefined when no browser was free. */
  const ask = async (signal: AbortSignal): Promise<Acquired | undefined> => {
    // Not given up by the signal: a browser that comes too late must be given back.
    const request = client.browserPools
      .acquire(pool, { acquire_timeout_seconds: pollSeconds }, { timeout: (pollSeconds + 15) * 1000, maxRetries: 0 })
      .then(toAcquired);
    try {
      return await abortable(request, signal);
    } catch (error) {
      if (signal.aborted) void giveBackLate(request);
      throw error;
    }
  };
  const giveBackLate = async (request: Promise<Acquired | undefined>): Promise<void> => {
    try {
      const late = await request;
      if (late !== undefined) await giveBack(late.session_id, undefined); // nothing has touched it
    } catch (error) {
      onEvent({ kind: 'not-acquired', error });
    }
  };

  const lend = (browser: Acquired, session: ReplSession): SessionLease => {
    const { session_id: browserId, cdp_ws_url: endpoint = '' } = browser;
    const heartbeat = startHeartbeat({
      by:
        endpoint === ''
          ? { ask: (signal) => client.browsers.retrieve(browserId, {}, { signal, maxRetries: 0 }) }
          : { connect: (signal) => connectRemoteCdp({ endpoint, signal }) },
      everyMs: heartbeatMs,
      onSilence: (reason) => lease.spoil(reason),
    });
    const lease = createLease(session, async (spoiled) => {
      lent.delete(lease);
      await heartbeat[Symbol.asyncDispose]();
      await giveBack(browserId, spoiled);
    });
    lent.add(lease);
    return lease;
  };

  const acquire = async (signal: AbortSignal): Promise<SessionLease> => {
    let pause = retryMs;
    for (let unclean = 0; ;) {
      let browser: Acquired | undefined;
      try {
        browser = await ask(signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!mayPass(error)) throw notAcquired(pool, error);
        onEvent({ kind: 'not-acquired', error });
        await sleep(pause, signal);
        pause = Math.min(pause * 2, retryMs * 16);
        continue;
      }
      if (browser === undefined) {
        onEvent({ kind: 'none-free' });
        await sleep(retryMs, signal);
        continue;
      }
      const session = createKernelSession(client, browser.session_id, browser.cdp_ws_url);
      try {
        await prepare(session, signal);
        return lend(browser, session);
      } catch (error) {
        await giveBack(browser.session_id, 'it was not made clean');
        signal.throwIfAborted();
        onEvent({ kind: 'not-clean', browserId: browser.session_id, error });
        if (++unclean === MAX_UNCLEAN) throw error;
      }
    }
  };

  return {
    kind: 'kernel',
    async acquire({ signal, deadlineMs = 120_000 }) {
      lifetime.signal.throwIfAborted();
      const onExpiry = (): Error => acquireTimeout(pool, deadlineMs);
      return withDeadline({ ms: deadlineMs, signal, onExpiry }, acquire);
    },
    async [Symbol.asyncDispose]() {
      lifetime.abort(new TabwrightError('browser', 'The provider has been closed.', { code: 'pool-closed' }));
      await Promise.all([...lent].map((lease) => lease[Symbol.asyncDispose]()));
    },
  };
}

/** The SDK gives no body, whatever its types say, when the pool had no browser to give. */
function toAcquired(answer: unknown): Acquired | undefined {
  const id = (answer as Partial<Acquired> | null | undefined)?.session_id;
  return typeof id === 'string' && id !== '' ? (answer as Acquired) : undefined;
}

/** Another runtime, a clean browser, and one more runtime that has seen nothing of the cleaning. */
async function prepare(session: ReplSession, signal: AbortSignal): Promise<void> {
  const onExpiry = (): Error => notPrepared(session.id, `not within ${PREPARE_MS} ms`);
  await withDeadline({ ms: PREPARE_MS, signal, onExpiry }, async (inner) => {
    const run = async (code: string, reset = false): Promise<string> => {
      const result = await session.execute({ code, reset, timeoutMs: PREPARE_MS / 2, signal: inner });
      if (!result.success) throw notPrepared(session.id, result.error ?? 'a cell failed');
      return (result.content ?? []).map((item) => (item.type === 'text' ? item.text : '')).join('');
    };
    await run('', true);
    await cleanBrowser({
      signal: inner,
      send: async (method, params, sessionId) => {
        const call = [method, params, sessionId ?? null].map((value) => JSON.stringify(value)).join(', ');
        return JSON.parse(await run(`repl.write(JSON.stringify((await cdp(${call})) ?? null));`)) as unknown;
      },
    });
    await run('', true);
  });
}

/** A pool that is busy, a service that stumbles, a connection that broke. */
function mayPass(error: unknown): boolean {
  const status = statusOf(error);
  return status === undefined || status === 408 || status === 409 || status === 429 || status >= 500;
}

function notAcquired(pool: string, cause: unknown): TabwrightError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TabwrightError('browser', `Kernel gives no browser of the pool ${pool}: ${reason}`, {
    code: 'kernel-not-acquired',
    details: { pool, status: statusOf(cause) ?? null, reason },
    cause,
  });
}

function notPrepared(browserId: string, reason: string): TabwrightError {
  return new TabwrightError('browser', `Kernel's browser ${browserId} could not be made clean: ${reason}`, {
    code: 'not-clean',
    details: { browserId, reason },
    retryable: true,
  });
}

function acquireTimeout(pool: string, ms: number): TabwrightError {
  return new TabwrightError('browser', `Kernel had no free browser in the pool ${pool} within ${ms} ms`, {
    code: 'session-acquire-timeout',
    details: { pool, ms },
    retryable: true,
  });
}
