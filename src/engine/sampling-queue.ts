// Calls for samples on their way through one decoder: their sequences join those that are running as soon as there is room,
// and a call is answered when its last one has ended, whatever else still runs.

import type { SampledSequence } from '../core/index.ts';
import type { Decoder } from './decoder.ts';
import { RunningBatch } from './running-batch.ts';
import { finished, startRows, type Job, type Row, type Sampling } from './sampled-rows.ts';

type Call = {
  readonly job: Job;
  readonly rows: readonly Row[];
  readonly resolve: (sequences: readonly SampledSequence[]) => void;
  readonly reject: (error: unknown) => void;
};

export class SamplingQueue {
  readonly #decoder: Decoder;
  readonly #calls = new Map<Job, Call>();
  /** Rows that have not joined yet, in the order in which they were asked for. */
  #waiting: Row[] = [];
  #running: Promise<void> | undefined;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  add(request: Sampling, signal: AbortSignal | undefined): Promise<readonly SampledSequence[]> {
    return new Promise((resolve, reject) => {
      const job = { request, signal };
      const rows = startRows(job);
      this.#calls.set(job, { job, rows, resolve, reject });
      this.#waiting.push(...rows);
      this.#running ??= this.#run();
    });
  }

  /** Resolves when every call made so far has been answered. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    let batch = new RunningBatch(this.#decoder);
    while (this.#calls.size > 0) {
      // One turn of the event loop, so that calls made together join together, and those that came meanwhile with them.
      await new Promise((resolve) => setImmediate(resolve));
      const joining = this.#waiting.splice(0, batch.free);
      if (joining.length > 0) {
        try {
          await batch.join(joining);
        } catch (error) {
          this.#fail(joining, error);
        }
        this.#settle(batch);
        continue;
      }
      try {
        if (batch.rows.length > 0) await batch.step();
      } catch (error) {
        this.#fail(batch.rows, error);
        batch = new RunningBatch(this.#decoder);
      }
      this.#settle(batch);
    }
    this.#decoder.rest?.();
    this.#running = undefined;
  }

  #fail(rows: readonly Row[], error: unknown): void {
    for (const job of new Set(rows.map((row) => row.job))) this.#end(job, ({ reject }) => reject(error));
  }

  #settle(batch: RunningBatch): void {
    for (const { job, rows } of [...this.#calls.values()]) {
      if (job.signal?.aborted) this.#end(job, ({ reject }) => reject(job.signal!.reason));
      else if (rows.every(({ stop }) => stop !== undefined))
        this.#end(job, ({ resolve }) => resolve(rows.map(finished)));
    }
    batch.leave();
    this.#waiting = this.#waiting.filter(({ stop }) => stop === undefined);
  }

  /** What is left of its rows is given up. */
  #end(job: Job, answer: (call: Call) => void): void {
    const call = this.#calls.get(job);
    if (call === undefined) return;
    this.#calls.delete(job);
    for (const row of call.rows) row.stop ??= 'length';
    answer(call);
  }
}
