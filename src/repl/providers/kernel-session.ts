// One browser of Kernel's as a session: cells run there, over HTTP. A cell is sent once: a request that got no answer may
// have been carried out, and sending it again would do everything twice.

import type Kernel from '@onkernel/sdk';
import { z } from 'zod';
import { connectRemoteCdp } from '../../browser/index.ts';
import { TabwrightError } from '../../core/index.ts';
import type { BrowserReplResult } from '../browser-repl-result.ts';
import type { CellRequest } from '../cell-process.ts';
import { withDeadline } from '../../util/index.ts';
import type { ReplSession } from '../session.ts';

const DEFAULT_CELL_MS = 60_000;
const DEFAULT_WAIT_MS = 15_000;
/** What an answer may take beyond the cell's own deadline, milliseconds. */
const ANSWER_MS = 30_000;

const item = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), channel: z.enum(['write', 'stdout', 'stderr']), text: z.string() }),
  z.object({ type: z.literal('image'), mime_type: z.string(), data_b64: z.string() }),
]);
const resultSchema = z.object({
  success: z.boolean(),
  repl_id: z.string(),
  content: z.array(item).optional(),
  content_truncated: z.boolean().optional(),
  duration_ms: z.number().optional(),
  error: z.string().optional(),
  stack: z.string().optional(),
  repl_terminated: z.boolean().optional(),
});

/** `endpoint` of its protocol, where Kernel has told one. */
export function createKernelSession(client: Kernel, browserId: string, endpoint?: string): ReplSession {
  let gone = false;
  const execute = async (request: CellRequest): Promise<BrowserReplResult> => {
    const { code, timeoutMs = DEFAULT_CELL_MS, reset = false, signal } = request;
    const seconds = Math.min(300, Math.max(1, Math.ceil(timeoutMs / 1000)));
    try {
      const answer = await client.post(`/browsers/${encodeURIComponent(browserId)}/repl`, {
        body: { code, timeout_sec: seconds, reset },
        timeout: seconds * 1000 + ANSWER_MS,
        maxRetries: 0,
        signal,
      });
      return resultSchema.parse(answer);
    } catch (error) {
      signal?.throwIfAborted();
      const status = statusOf(error);
      if (status === 400 || status === 413) throw cellRefused(browserId, error);
      gone ||= status === 404;
      throw cellOutcomeUnknown(browserId, error);
    }
  };

  return {
    id: browserId,
    log: undefined,
    get closed() {
      return gone;
    },
    execute,
    async navigate(url, { signal, deadlineMs = DEFAULT_WAIT_MS }) {
      const code = `await gotoUrl(${JSON.stringify(url)});`;
      const { success, error = '' } = await execute({ code, timeoutMs: deadlineMs, signal });
      if (!success) throw new TabwrightError('browser', error, { code: 'navigation-failed', details: { url } });
    },
    async screenshot({ signal, deadlineMs = DEFAULT_WAIT_MS }) {
      // The whole screen, address bar included, which is more than a page can forge.
      try {
        const response = await client.browsers.computer.captureScreenshot(
          browserId,
          {},
          { signal, timeout: deadlineMs, maxRetries: 0 },
        );
        return new Uint8Array(await response.arrayBuffer());
      } catch (error) {
        signal.throwIfAborted();
        throw noPicture(browserId, error);
      }
    },
    ...(endpoint === undefined || endpoint === ''
      ? {}
      : {
          connection: ({ signal, deadlineMs = DEFAULT_WAIT_MS }) =>
            withDeadline({ ms: deadlineMs, signal, onExpiry: () => notReached(browserId, deadlineMs) }, (inner) =>
              connectRemoteCdp({ endpoint, signal: inner }),
            ),
        }),
    async health({ signal, deadlineMs = DEFAULT_WAIT_MS }) {
      try {
        const { success, error = '' } = await execute({ code: 'await listTabs();', timeoutMs: deadlineMs, signal });
        return success ? { ok: true } : { ok: false, reason: error };
      } catch (error) {
        signal.throwIfAborted();
        return { ok: false, reason: error instanceof Error ? error.message : String(error) };
      }
    },
    memory: () => undefined,
    // Giving the browser back is the provider's.
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Of an HTTP answer; undefined where there was none. */
export function statusOf(error: unknown): number | undefined {
  return (error as { readonly status?: number }).status;
}

function notReached(browserId: string, ms: number): TabwrightError {
  return new TabwrightError('browser', `Kernel's browser ${browserId} was not reached within ${ms} ms`, {
    code: 'session-not-answering',
    details: { browserId, ms },
    retryable: true,
  });
}

function noPicture(browserId: string, cause: unknown): TabwrightError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TabwrightError('browser', `Kernel gave no picture of the browser ${browserId}: ${reason}`, {
    code: 'no-picture',
    details: { browserId, reason },
    retryable: true,
    cause,
  });
}

function cellRefused(browserId: string, cause: unknown): TabwrightError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TabwrightError('env', `Kernel refused the cell sent to the browser ${browserId}: ${reason}`, {
    code: 'cell-refused',
    details: { browserId, reason },
    cause,
  });
}

function cellOutcomeUnknown(browserId: string, cause: unknown): TabwrightError {
  const status = statusOf(cause);
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TabwrightError(
    'browser',
    `the cell sent to Kernel's browser ${browserId} got no result (${reason}); it may have been carried out, so it is not sent again`,
    { code: 'kernel-cell-failed', details: { browserId, status: status ?? null, reason }, cause },
  );
}
