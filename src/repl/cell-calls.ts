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

export interface HostCalls {
  /** Rejects with a `TabwrightError` whose message is for the cell; `details.name` and `details.properties` shape the error there. */
  call(method: string, params: readonly WireValue[], context: HostCallContext): Promise<WireValue>;
  /** The cell has been answered: what was kept for it can go. */
  cellEnded(cell: number): void;
}
