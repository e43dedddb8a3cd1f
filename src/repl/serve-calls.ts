// Carries out what a cell asks of its host and sends the answers. The cell may ask anything and as much as it likes: names
// that are not offered and calls beyond a number in flight are refused with an error, ids used twice end the process.

import { TabwrightError } from '../core/index.ts';
import type { CallError, CallMessage, ResultMessage } from './cell/messages.ts';
import type { HostCallContext, HostCalls } from './cell-calls.ts';
import type { WireValue } from './wire-values.ts';

export type ServeCallsOptions = {
  readonly calls: HostCalls;
  /** Qualified names that may be called. */
  readonly methods: ReadonlySet<string>;
  readonly send: (message: ResultMessage) => void;
  /** Of the cell that is asking now. */
  readonly context: () => HostCallContext;
};

const MAX_IN_FLIGHT = 256;

/** Throws for a call that the cell's own program would never send. */
export function serveCalls({ calls, methods, send, context }: ServeCallsOptions): (message: CallMessage) => void {
  const inFlight = new Set<number>();
  return ({ id, method, params }) => {
    if (inFlight.has(id)) throw new Error(`call ${id} is in flight already`);
    if (!methods.has(method)) {
      send({ type: 'result', id, error: { name: 'Error', message: `${method} is no method of this REPL` } });
      return;
    }
    if (inFlight.size >= MAX_IN_FLIGHT) {
      const message = `${method}: ${MAX_IN_FLIGHT} calls are in flight already; await some of them first`;
      send({ type: 'result', id, error: { name: 'Error', message } });
      return;
    }
    inFlight.add(id);
    const asking = context();
    const answer = (message: ResultMessage): void => {
      inFlight.delete(id);
      if (!asking.signal.aborted) send(message);
    };
    calls.call(method, params, asking).then(
      (value: WireValue) => answer({ type: 'result', id, value }),
      (error: unknown) => answer({ type: 'result', id, error: callError(error) }),
    );
  };
}

function callError(error: unknown): CallError {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof TabwrightError)) return { name: 'Error', message };
  const { name, properties } = error.details as Partial<CallError>;
  return { name: name ?? 'Error', message, ...(properties === undefined ? {} : { properties }) };
}
