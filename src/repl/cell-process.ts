// The cell runtime as its host sees it: runs one cell at a time in a process that is started when it is needed. When
// the process ends its state ends; the next cell gets another one, with another id. It knows no browser: what cells ask
// for goes to the `HostCalls` that it is given.

import { TabwrightError } from '../core/index.ts';
import { createSemaphore } from '../util/index.ts';
import type { BrowserReplResult } from './browser-repl-result.ts';
import { LIMITS } from './cell/limits.ts';
import { startCellChild, type CellChild, type CellChildOptions } from './cell-child.ts';

export type CellRequest = {
  /** May be empty only with `reset`. */
  readonly code: string;
  /** 1 to 300,000. Default 60,000. */
  readonly timeoutMs?: number;
  /** Ends the runtime and its state first. Default false. */
  readonly reset?: boolean;
  /** While the cell waits for its turn, nothing happens to the runtime; once it runs, the runtime is ended. */
  readonly signal?: AbortSignal;
};

export interface CellProcess extends AsyncDisposable {
  /** Of the runtime that is alive; `undefined` before the first cell and after a termination. */
  readonly replId: string | undefined;
  /** Starts the runtime ahead of its first cell. */
  start(signal?: AbortSignal): Promise<void>;
  /** Puts a text of the host's among the output of the runtime that is alive, on `stderr`. */
  note(text: string): void;
  /** Rejects with the signal's reason, or a `TabwrightError` for a bad request and for a runtime that does not start. */
  execute(request: CellRequest): Promise<BrowserReplResult>;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 300_000;

export function createCellProcess(options: CellChildOptions): CellProcess {
  const turn = createSemaphore(1);
  let child: CellChild | undefined;
  let closed = false;

  const end = async (): Promise<void> => {
    await child?.kill();
    child = undefined;
  };
  const running = async (signal: AbortSignal | undefined): Promise<CellChild> => {
    if (closed) throw new TabwrightError('env', 'The REPL has been closed.', { code: 'repl-closed' });
    if (child === undefined || child.hasEnded) child = await startCellChild(options, signal);
    return child;
  };

  return {
    get replId() {
      return child === undefined || child.hasEnded ? undefined : child.replId;
    },
    start: (signal) => turn.run(async () => void (await running(signal)), signal),
    note(text) {
      if (child !== undefined && !child.hasEnded) child.note(text);
    },
    async execute(request) {
      checkRequest(request);
      const { code, timeoutMs = DEFAULT_TIMEOUT_MS, reset = false, signal } = request;
      return turn.run(async () => {
        if (reset) await end();
        const current = await running(signal);
        signal?.throwIfAborted();
        if (code === '') return { success: true, repl_id: current.replId };
        return current.run({ code, timeoutMs, signal });
      }, signal);
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      await child?.kill(); // a cell that is running ends with it
      await turn.run(end); // a process that was just being started is met here
    },
  };
}

function checkRequest({ code, timeoutMs = DEFAULT_TIMEOUT_MS, reset = false }: CellRequest): void {
  const refuse = (message: string, errorCode: string): never => {
    throw new TabwrightError('env', message, { code: errorCode });
  };
  if (code === '' && !reset) refuse('The code of a cell is empty; only a reset may come without code.', 'cell-empty');
  const bytes = Buffer.byteLength(code);
  if (bytes > LIMITS.codeBytes) {
    refuse(`code too large: ${bytes} bytes; the limit is ${LIMITS.codeBytes}.`, 'cell-too-large');
  }
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    refuse(`The timeout of a cell is 1 to ${MAX_TIMEOUT_MS} milliseconds, got ${timeoutMs}.`, 'cell-timeout');
  }
}
