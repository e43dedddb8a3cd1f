// What a cell can ask of its host, as an interface: the runtime of cells knows no more of browsers than this.

import type { WireValue } from './wire-values.ts';

export type HostCallContext = {
  /** Number of the cell that asks, from 1: the one that runs, else the last. */
  readonly cell: number;
  /** Milliseconds left until the cell's deadline; 30000 for what a cell left running when it ended. */
  readonly deadlineMs: number;
  /** Fires when the runtime that asked has ended. What a cell did not wait for goes on after it. */
  readonly signal: AbortSignal;
};

/** The host's side of one client of `CDP_ENDPOINT`. */
export interface RawConnection {
  /** Answers through `RawClient.send`, in the order in which the browser answers. */
  command(command: RawCommand, context: Pick<HostCallContext, 'cell'>): void;
  /** Nothing is sent to the client after it. */
  close(): void;
}

export type RawCommand = {
  readonly id: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** `undefined` is the browser's own session. */
  readonly sessionId: string | undefined;
};

export interface RawClient {
  /** An answer or an event of the protocol. */
  send(message: object): void;
  /** The connection is at its end and wants nothing more. */
  ended(reason: string): void;
}

export interface HostCalls {
  /** A protocol connection of a client of `CDP_ENDPOINT`; without it there is no such endpoint. */
  readonly connectRaw?: (client: RawClient) => RawConnection;
  /** Rejects with a `TabwrightError` whose message is for the cell; `details.name` and `details.properties` shape the error there. */
  call(method: string, params: readonly WireValue[], context: HostCallContext): Promise<WireValue>;
  /** The cell has been answered: what was kept for it can go. */
  cellEnded(cell: number): void;
}
