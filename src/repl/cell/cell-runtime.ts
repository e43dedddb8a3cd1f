// The life of a cell process, apart from where its messages come from: starts the realm, runs cells, answers each once.
// A cell that is still waiting at its deadline is answered here, with what it has shown; one that blocks the thread
// is ended by the host.

import { createHostLink } from './host-link.ts';
import { createImport } from './import-module.ts';
import { installGlobals, RESERVED_NAMES } from './install-globals.ts';
import { describeError, type ErrorText } from './describe-error.ts';
import type { CallMessage, DoneMessage, ExecuteMessage, ResultMessage, StartMessage } from './messages.ts';
import { createOutput, type Output } from './output.ts';
import { createRealm } from './realm.ts';
import { createCellRunner } from './run-cell.ts';

export interface CellRuntime {
  readonly output: Output;
  execute(message: ExecuteMessage): void;
  settle(message: ResultMessage): void;
  /** A promise was rejected and nobody handles it. */
  unhandledRejection(reason: unknown): void;
  /** Answers the running cell, if there is one: the process is about to end. */
  fail(thrown: unknown): void;
}

/** Modules that compute and touch nothing. */
const TRAIN_IMPORTS = [
  'assert',
  'buffer',
  'events',
  'path',
  'querystring',
  'string_decoder',
  'timers/promises',
  'url',
  'util',
];

export function createCellRuntime(
  start: StartMessage,
  send: (message: CallMessage | DoneMessage) => void,
): CellRuntime {
  const realm = createRealm();
  const output = createOutput();
  const link = createHostLink(realm, send);
  installGlobals({ realm, output, link, start });
  const runner = createCellRunner({
    realm,
    relaxedRedeclaration: start.relaxedRedeclaration,
    reserved: RESERVED_NAMES,
    importModule: createImport({
      from: start.importFrom,
      ...(start.profile === 'train' ? { allowed: TRAIN_IMPORTS } : {}),
    }),
  });
  // Cells share these with this program and may replace them.
  const { setTimeout, clearTimeout, setImmediate } = globalThis;
  let running: { readonly cell: number; readonly timer: NodeJS.Timeout } | undefined;

  const answer = (failure: ErrorText | undefined, fatal: boolean): void => {
    if (running === undefined) return;
    const { cell, timer } = running;
    running = undefined;
    clearTimeout(timer);
    const { items, truncated } = output.end();
    send({
      type: 'done',
      cell,
      content: items,
      contentTruncated: truncated || (failure?.truncated ?? false),
      ...(failure === undefined ? {} : { error: failure.error }),
      ...(failure?.stack === undefined ? {} : { stack: failure.stack }),
      fatal,
    });
  };

  return {
    output,
    execute({ cell, code, timeoutMs }) {
      const expire = (): void => answer({ error: `execution timed out after ${timeoutMs}ms`, truncated: false }, true);
      running = { cell, timer: setTimeout(expire, timeoutMs) };
      output.begin();
      void runner
        .run(code, cell)
        .then(
          () => undefined,
          (thrown: unknown) => describeError(thrown),
        )
        .then((failure) => {
          // One turn of the loop later, what the cell rejected and nobody handled has been reported.
          setImmediate(() => {
            if (running?.cell === cell) answer(failure, false);
          });
        });
    },
    settle: (message) => link.settle(message),
    unhandledRejection(reason) {
      const { error, stack } = describeError(reason);
      output.text('stderr', `Unhandled promise rejection: ${stack?.startsWith(error) ? stack : error}`);
    },
    fail(thrown) {
      const { error, stack, truncated } = describeError(thrown);
      const message = `uncaught exception in browser REPL process: ${error}`;
      answer({ error: message, ...(stack === undefined ? {} : { stack }), truncated }, true);
    },
  };
}
