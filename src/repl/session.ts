// One session of the Browser REPL: a cell process, the host's side of its calls, and a browser that is somebody else's
// to start. Where the browser and the process run, jailed or not, is decided by whoever opens it.

import type { CdpConnection } from '../browser/index.ts';
import { TabwrightError } from '../core/index.ts';
import { createSemaphore, withDeadline } from '../util/index.ts';
import type { ActionLog } from './action-log.ts';
import type { BrowserReplResult } from './browser-repl-result.ts';
import type { CellChildOptions } from './cell-child.ts';
import { createCellProcess, type CellProcess, type CellRequest } from './cell-process.ts';
import { createHostCalls, type HostCallsOptions } from './host-calls.ts';
import { CELL_METHODS, helpTexts } from './method-registry.ts';
import type { HostTab } from './host-tab.ts';
import { createReplId } from './repl-id.ts';

export type SessionWait = {
  readonly signal: AbortSignal;
  /** Milliseconds; default 15000. */
  readonly deadlineMs?: number;
};

export type SessionHealth = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** A REPL with its browser, wherever they are. */
export interface ReplSession extends AsyncDisposable {
  readonly id: string;
  /** What the host saw being done; undefined where the host is somebody else's. */
  readonly log: ActionLog | undefined;
  /** Its browser is gone: there is nothing to do but dispose it. */
  readonly closed: boolean;
  /** One cell at a time; rejects for a bad request and for a runtime that does not answer, never for a failing cell. */
  execute(request: CellRequest): Promise<BrowserReplResult>;
  /** Opens an address in the tab that cells act on, without waiting for it to load. */
  navigate(url: string, wait: SessionWait): Promise<void>;
  /** PNG of what that tab shows, taken by the host; undefined when it does not answer. */
  screenshot(wait: SessionWait): Promise<Uint8Array | undefined>;
  /** That tab for a look of the host's own, for graders; undefined when there is none. Missing where the host is somebody else's. */
  tab?(wait: SessionWait): Promise<HostTab | undefined>;
  /**
   * A connection to its browser of which cells learn nothing and which no reset of theirs ends; whoever asks closes it.
   * Missing where the browser's protocol is not to be reached.
   */
  connection?(wait: SessionWait): Promise<CdpConnection>;
  /**
   * Until its end its cells can hold, let go and fail requests, and no longer write them or their answers anew: for whoever
   * takes what goes over the network as evidence. Missing where the host is somebody else's, and nobody can hold them to it.
   */
  readonly refuseRewrites?: () => void;
  /** Whether browser and runtime answer. Rejects with the signal's reason only. */
  health(wait: SessionWait): Promise<SessionHealth>;
  /** Bytes that its processes hold, as jails count them; undefined where that is not known. */
  memory(): number | undefined;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What `CellChildOptions` leaves to the one who opens the session. */
export type SessionCell = Omit<CellChildOptions, 'methods' | 'help' | 'calls'>;

export type OpenReplSessionOptions = Pick<HostCallsOptions, 'connect' | 'scratch' | 'httpGet' | 'extensions'> & {
  readonly cell: SessionCell;
  /** Default: not known. */
  readonly memory?: () => number | undefined;
  readonly signal: AbortSignal;
};

const DEADLINE_MS = 15_000;
/** For what the host does itself: no cell has the number. */
const HOST = 0;

/** Resolves when browser and runtime answer. Its end closes the connection, not the browser. */
export async function openReplSession({
  cell,
  memory,
  signal,
  ...calls
}: OpenReplSessionOptions): Promise<ReplSession> {
  const id = createReplId();
  const turn = createSemaphore(1);
  const cells = createSemaphore(1);
  let connection: CdpConnection | undefined;
  let closed = false;
  const connect = (inner: AbortSignal): Promise<CdpConnection> =>
    turn.run(async () => {
      if (connection !== undefined && !connection.closed) return connection;
      const made = await calls.connect(inner);
      if (closed) made.close(); // the end came meanwhile
      connection = made;
      return made;
    }, inner);
  const host = createHostCalls({ ...calls, connect, note: (text) => repl.note(text) });
  const repl: CellProcess = createCellProcess({ ...cell, calls: host, methods: CELL_METHODS, help: helpTexts() });
  const answer = async (inner: AbortSignal): Promise<void> => {
    const browser = async (): Promise<unknown> => (await connect(inner)).root.send('Browser.getVersion');
    await Promise.all([browser(), repl.replId === undefined ? repl.start(inner) : undefined]);
  };
  const disconnect = (): void => {
    connection?.close();
    connection = undefined;
  };
  // A runtime takes its connection along, as where it has one of its own: what it did to the browser as a whole ends.
  const execute = async (request: CellRequest): Promise<BrowserReplResult> => {
    if (request.reset === true || repl.replId === undefined) {
      disconnect();
      host.runtimeEnded();
    }
    return repl.execute(request);
  };
  const dispose = async (): Promise<void> => {
    await repl[Symbol.asyncDispose]();
    closed = true;
    disconnect();
  };
  try {
    await answer(signal);
  } catch (error) {
    await dispose();
    throw error;
  }

  return {
    id,
    log: host.log,
    get closed() {
      return closed || (connection?.closed ?? false);
    },
    execute: (request) => cells.run(() => execute(request), request.signal),
    async navigate(url, { signal: wait, deadlineMs = DEADLINE_MS }) {
      await host.call('gotoUrl', [url], { cell: HOST, deadlineMs, signal: wait });
    },
    screenshot: ({ signal: wait, deadlineMs = DEADLINE_MS }) => host.screenshot({ signal: wait, deadlineMs }),
    tab: ({ signal: wait, deadlineMs = DEADLINE_MS }) => host.tab({ signal: wait, deadlineMs }),
    connection: ({ signal: wait, deadlineMs = DEADLINE_MS }) =>
      withDeadline({ ms: deadlineMs, signal: wait, onExpiry: () => notAnswering(deadlineMs) }, calls.connect),
    refuseRewrites: host.refuseRewrites,
    async health({ signal: wait, deadlineMs = DEADLINE_MS }) {
      const onExpiry = (): Error => notAnswering(deadlineMs);
      try {
        await withDeadline({ ms: deadlineMs, signal: wait, onExpiry }, answer);
      } catch (error) {
        wait.throwIfAborted();
        return { ok: false, reason: error instanceof Error ? error.message : String(error) };
      }
      return { ok: true };
    },
    memory: () => memory?.(),
    [Symbol.asyncDispose]: dispose,
  };
}

function notAnswering(ms: number): TabwrightError {
  return new TabwrightError('browser', `browser or runtime did not answer within ${ms} ms`, {
    code: 'session-not-answering',
    details: { ms },
    retryable: true,
  });
}
