// Keeps a remote browser from being taken for idle while nobody acts, e.g. during slow inference: a command on its
// protocol every few seconds, or a question about it where its protocol is not to be had. A connection that was dropped is
// made again; a browser that does not answer twice in a row is reported, once.

import type { CdpConnection } from '../browser/index.ts';
import { TabwrightError } from '../core/index.ts';
import { sleep, withDeadline } from '../util/index.ts';

export type HeartbeatOptions = {
  /** One beat of whoever can be asked. */
  readonly by:
    | { readonly connect: (signal: AbortSignal) => Promise<CdpConnection> }
    | { readonly ask: (signal: AbortSignal) => Promise<unknown> };
  /** Milliseconds between two beats. */
  readonly everyMs: number;
  readonly onSilence: (reason: string) => void;
};

const ANSWER_MS = 10_000;
const MISSES = 2;

/** Beats until it is disposed. */
export function startHeartbeat({ by, everyMs, onSilence }: HeartbeatOptions): AsyncDisposable {
  const stop = new AbortController();
  let connection: CdpConnection | undefined;

  const beat = async (signal: AbortSignal): Promise<void> => {
    if ('ask' in by) {
      await by.ask(signal);
      return;
    }
    if (connection === undefined || connection.closed) connection = await by.connect(signal);
    await connection.root.send('Browser.getVersion');
  };
  const run = async (): Promise<void> => {
    for (let missed = 0; ;) {
      try {
        await withDeadline({ ms: ANSWER_MS, signal: stop.signal, onExpiry: silent }, beat);
        missed = 0;
      } catch (error) {
        if (stop.signal.aborted) return;
        connection?.close();
        if (++missed === MISSES) onSilence(error instanceof Error ? error.message : String(error));
      }
      await sleep(everyMs, stop.signal);
    }
  };
  const ended = run().catch(() => undefined); // `sleep` ends it when it is stopped; nothing else throws
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
      connection?.close();
    },
  };
}

function silent(): TabwrightError {
  return new TabwrightError('browser', `the browser did not answer a heartbeat within ${ANSWER_MS} ms`, {
    code: 'heartbeat-missed',
    retryable: true,
  });
}
