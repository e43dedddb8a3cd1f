// One cell process from its start to its end, seen from the host. It ends by a missed deadline, a crash, nonsense on
// the wire, a cancelled cell or its owner's wish; whatever is being waited for is told. Deciding when to start another
// is the business of cell-process.ts.

import type { Readable, Writable } from 'node:stream';
import { TabwrightError } from '../core/index.ts';
import {
  childEntry,
  onAbort,
  runEntry,
  spawnOwned,
  withDeadline,
  type ChildEntry,
  type OwnedProcess,
} from '../util/index.ts';
import type { BrowserReplResult } from './browser-repl-result.ts';
import { createFrameReader, encodeFrame } from './cell/frames.ts';
import { LIMITS } from './cell/limits.ts';
import {
  qualifiedName,
  type CellMethod,
  type CellProfile,
  type DoneMessage,
  type HelpTexts,
  type HostMessage,
} from './cell/messages.ts';
import { parseCellMessage } from './cell-messages.ts';
import type { HostCalls } from './cell-calls.ts';
import { createReplId } from './repl-id.ts';
import { serveEndpoint } from './serve-endpoint.ts';
import { serveCalls } from './serve-calls.ts';

/** What it takes to start the process, but for where Node and the program (`cellEntry`) are found. */
export type CellCommand = {
  /** Node's options. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: readonly ('ignore' | 'pipe')[];
};

export function cellEntry(): ChildEntry {
  return childEntry(import.meta.url, './cell/main');
}

export type CellChildOptions = {
  /** What cells find. Default `kernel`. */
  readonly profile?: CellProfile;
  /** Lets `let`, `const` and `class` be declared again. Off by default: Kernel's REPL refuses it. */
  readonly relaxedRedeclaration?: boolean;
  /** `calls` carries them out, but for those of the namespace `repl`. */
  readonly methods: readonly CellMethod[];
  readonly help: HelpTexts;
  readonly calls: HostCalls;
  /** Starts the process, e.g. in a jail. Default: a plain child of this process, which protects nothing. */
  readonly spawn?: (command: CellCommand) => OwnedProcess;
  /** Environment of the process. Default: nothing beside what `spawn` gives. */
  readonly env?: Readonly<Record<string, string>>;
  /** Megabytes of the JavaScript heap. Default 512. */
  readonly heapMb?: number;
  /** Folder, as the process sees it, from which cells import packages. Default: this process's. */
  readonly importFrom?: string;
};

export type CellRun = {
  readonly code: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
};

export interface CellChild {
  readonly replId: string;
  /** It can be asked nothing any more. */
  readonly hasEnded: boolean;
  /** Puts a text of the host's among the cell's output, on `stderr`. */
  note(text: string): void;
  /** One at a time. Rejects with the signal's reason only. */
  run(cell: CellRun): Promise<BrowserReplResult>;
  /** Resolves when the process is gone. */
  kill(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
/** How long an answer may take beyond the deadline: a cell that waits sends what it has shown, one that spins nothing. */
const ANSWER_GRACE_MS = 50;
/** How long the pipes of a process that has ended may take to run dry: a stranger may hold the other end. */
const LAST_WORDS_MS = 200;
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** For calls that a cell left running when it ended, milliseconds. */
const BETWEEN_CELLS_MS = 30_000;

/** Resolves when the process is ready for its first cell. */
export async function startCellChild(options: CellChildOptions, signal?: AbortSignal): Promise<CellChild> {
  signal?.throwIfAborted();
  const replId = createReplId();
  const owned = (options.spawn ?? spawnPlain)(cellCommand(options));
  const { child } = owned;
  const toCell = child.stdio[3] as Writable;
  const fromCell = child.stdio[4] as Readable;
  const lastWords = keepTail(child.stderr!);
  child.stdout!.resume();

  const gone = new AbortController();
  let reason = '';
  let onReady = (): void => undefined;
  let onDone: ((message: DoneMessage) => void) | undefined;
  let cell = 0;
  let deadline = 0;

  const giveUp = (why: string): void => {
    if (gone.signal.aborted) return;
    reason = why;
    gone.abort();
    toCell.destroy();
    fromCell.destroy();
  };
  const kill = async (why: string): Promise<void> => {
    giveUp(why);
    await owned.kill();
  };
  void owned.ended.then(async ({ code, signal: endSignal, error }) => {
    // What it wrote before it ended, an answer perhaps, may not have been read yet.
    await within(LAST_WORDS_MS, Promise.all([streamEnd(fromCell), streamEnd(child.stderr!)]));
    giveUp(error?.message ?? (lastWords() || `it ended with ${endSignal ?? `code ${code}`}`));
  });

  const sendJson = (json: string): void => {
    toCell.write(encodeFrame(json));
    // Holding questions back instead would lock both up: a cell that writes waits for its host to read.
    if (toCell.writableLength > MAX_UNREAD_BYTES) void kill('it does not read the answers to what it asks');
  };
  const send = (message: HostMessage): void => sendJson(JSON.stringify(message));
  const serve = serveCalls({
    calls: options.calls,
    methods: new Set(options.methods.map(qualifiedName)),
    send,
    context: () => ({
      cell,
      deadlineMs: onDone === undefined ? BETWEEN_CELLS_MS : Math.max(0, deadline - performance.now()),
      signal: gone.signal,
    }),
  });
  const profile = options.profile ?? 'kernel';
  const connect = profile === 'train' ? undefined : options.calls.connectRaw;
  const endpoint =
    connect === undefined
      ? undefined
      : serveEndpoint({
          connect,
          send: (json) => {
            if (!gone.signal.aborted) sendJson(json);
          },
          unreadBytes: () => toCell.writableLength,
          context: () => ({ cell }),
        });
  onAbort(gone.signal, () => endpoint?.close());
  const receive = (json: string): void => {
    const message = parseCellMessage(json);
    switch (message.type) {
      case 'ready':
        onReady();
        return;
      case 'call':
        serve(message);
        return;
      case 'cdp-open':
      case 'cdp-command':
      case 'cdp-close':
        if (endpoint === undefined) throw new Error('there is no CDP_ENDPOINT here');
        endpoint.receive(message, Buffer.byteLength(json));
        return;
      case 'done': {
        if (onDone === undefined || message.cell !== cell) throw new Error(`an answer to cell ${message.cell}`);
        const answer = onDone;
        onDone = undefined; // a second answer would be one that the cell has made up, or the true one after it
        answer(message);
        return;
      }
      default:
        message satisfies never;
    }
  };
  const read = createFrameReader(LIMITS.frameBytes, receive);
  fromCell.on('data', (chunk: Buffer) => {
    if (gone.signal.aborted) return;
    try {
      read(chunk);
    } catch (error) {
      void kill(`it broke the protocol (${(error as Error).message.slice(0, 200)})`);
    }
  });
  // A broken pipe announces the end of the process, which says why.
  for (const stream of [toCell, fromCell]) stream.on('error', () => undefined);

  const run = async ({ code, timeoutMs, signal: cancel }: CellRun): Promise<BrowserReplResult> => {
    cell++;
    const start = performance.now();
    deadline = start + timeoutMs;
    const offs: (() => void)[] = [];
    const outcome = await new Promise<DoneMessage | 'gone' | 'late' | 'cancelled'>((resolve) => {
      onDone = resolve;
      const timer = setTimeout(() => resolve('late'), timeoutMs + ANSWER_GRACE_MS);
      offs.push(() => clearTimeout(timer));
      offs.push(onAbort(gone.signal, () => resolve('gone')));
      if (cancel !== undefined) offs.push(onAbort(cancel, () => resolve('cancelled')));
      if (gone.signal.aborted) resolve('gone');
      else send({ type: 'execute', cell, code, timeoutMs });
    });
    for (const off of offs) off();
    onDone = undefined;
    const durationMs = Math.round(performance.now() - start);
    options.calls.cellEnded(cell);

    if (typeof outcome === 'object') {
      if (outcome.fatal) await kill('its cell ended it');
      return resultOf(outcome, replId, durationMs);
    }
    const why =
      outcome === 'late' ? 'its cell missed the deadline' : outcome === 'gone' ? reason : 'its cell was cancelled';
    await kill(why);
    if (outcome === 'cancelled') throw cancel!.reason as Error;
    const error =
      outcome === 'late'
        ? `execution timed out after ${timeoutMs}ms`
        : `browser REPL process terminated during execution: ${reason}`;
    return { success: false, repl_id: replId, duration_ms: durationMs, error, repl_terminated: true };
  };

  const isReady = new Promise<void>((resolve, reject) => {
    onReady = resolve;
    onAbort(gone.signal, () => reject(doesNotStart(reason)));
  });
  send({
    type: 'start',
    replId,
    profile,
    relaxedRedeclaration: options.relaxedRedeclaration ?? false,
    methods: options.methods,
    help: options.help,
    importFrom: options.importFrom ?? process.cwd(),
    cdpEndpoint: endpoint !== undefined,
  });
  try {
    await withDeadline(
      {
        ms: START_TIMEOUT_MS,
        ...(signal === undefined ? {} : { signal }),
        onExpiry: () => doesNotStart(`it was not ready within ${START_TIMEOUT_MS / 1000} s`),
      },
      () => isReady,
    );
  } catch (error) {
    await kill('it did not start');
    throw error;
  }
  return {
    replId,
    get hasEnded() {
      return gone.signal.aborted;
    },
    note: (text) => send({ type: 'note', text }),
    run,
    kill: () => kill('it was ended by its host'),
  };
}

function resultOf(done: DoneMessage, replId: string, durationMs: number): BrowserReplResult {
  return {
    success: done.error === undefined,
    repl_id: replId,
    ...(done.content.length === 0 ? {} : { content: done.content }),
    ...(done.contentTruncated ? { content_truncated: true } : {}),
    duration_ms: durationMs,
    ...(done.error === undefined ? {} : { error: done.error }),
    ...(done.stack === undefined ? {} : { stack: done.stack }),
    ...(done.fatal ? { repl_terminated: true } : {}),
  };
}

function doesNotStart(why: string): TabwrightError {
  return new TabwrightError('env', `The REPL process did not start: ${why}.`, { code: 'repl-start', details: { why } });
}

function cellCommand({ profile, heapMb = 512, env = {} }: CellChildOptions): CellCommand {
  const flags = [
    // Cells are modules of a realm of their own, which Node still calls experimental.
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    `--max-old-space-size=${heapMb}`,
    // The shortest way out of the realm is a constructor of functions; the strict profile has none outside it.
    ...(profile === 'train' ? ['--disallow-code-generation-from-strings'] : []),
  ];
  return { flags, env, stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] };
}

function spawnPlain({ flags, env, stdio }: CellCommand): OwnedProcess {
  return spawnOwned({
    command: process.execPath,
    args: [...flags, ...runEntry(cellEntry())],
    env,
    stdio: [...stdio],
  });
}

/** Reads everything and keeps the line that V8 or Node ends with. */
function keepTail(stream: Readable): () => string {
  let tail = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-4096);
  });
  return () => /FATAL ERROR: .*/.exec(tail)?.[0] ?? '';
}

function streamEnd(stream: Readable): Promise<unknown> {
  if (stream.readableEnded || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => stream.once('end', resolve).once('close', resolve));
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
