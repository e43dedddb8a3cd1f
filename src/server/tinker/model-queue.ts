// The order of one model's requests. Clients number them and may deliver them out of order; they run one at a time by
// number, whatever order they came in. A number that was refused counts as used, because it never comes again.

import { serverFault } from './refusals.ts';

export interface Job {
  /** Never rejects: what fails is told to whoever waits for it. */
  run(): Promise<void>;
  fail(error: unknown): void;
}

export type ModelQueueOptions = {
  /** How long requests wait for one before them that has not come. */
  readonly gapMs: number;
};

export class ModelQueue {
  readonly #gapMs: number;
  readonly #jobs = new Map<number, Job>();
  readonly #refused = new Set<number>();
  #next = 1;
  #running: Promise<void> | undefined;
  #gap: { readonly timer: NodeJS.Timeout; readonly missing: number } | undefined;
  #closed: unknown;

  constructor({ gapMs }: ModelQueueOptions) {
    this.#gapMs = gapMs;
  }

  /** Jobs that are held, the running one not among them. */
  get length(): number {
    return this.#jobs.size;
  }

  /** The number that runs next. */
  get next(): number {
    return this.#next;
  }

  /** True when this number has run, was refused or was given up. */
  isPast(sequence: number): boolean {
    return sequence < this.#next || this.#refused.has(sequence);
  }

  /** True when a number before it has not come yet. */
  waitsForGap(sequence: number): boolean {
    for (let at = this.#next; at < sequence; at++) if (!this.#jobs.has(at) && !this.#refused.has(at)) return true;
    return false;
  }

  add(sequence: number, job: Job): void {
    if (this.#closed !== undefined) {
      job.fail(this.#closed);
      return;
    }
    this.#jobs.set(sequence, job);
    this.#pump();
  }

  /** Uses the number up without running anything. */
  refuse(sequence: number): void {
    if (sequence < this.#next || this.#jobs.has(sequence)) return;
    this.#refused.add(sequence);
    this.#pump();
  }

  /** Fails what is held; resolves when what runs has ended. */
  async close(reason: unknown): Promise<void> {
    this.#closed ??= reason;
    this.#stopGap();
    this.#failHeld(reason);
    await this.#running;
  }

  #pump(): void {
    if (this.#running !== undefined) return;
    while (this.#refused.delete(this.#next)) this.#next++;
    const job = this.#jobs.get(this.#next);
    if (job === undefined) {
      if (this.#jobs.size > 0) this.#waitForGap();
      else this.#stopGap();
      return;
    }
    this.#stopGap();
    this.#jobs.delete(this.#next++);
    this.#running = job.run().finally(() => {
      this.#running = undefined;
      this.#pump();
    });
  }

  /** The time counts from when the gap was seen, however much arrives behind it. */
  #waitForGap(): void {
    if (this.#gap?.missing === this.#next) return;
    this.#stopGap();
    this.#gap = { timer: setTimeout(() => this.#giveUpGap(), this.#gapMs).unref(), missing: this.#next };
  }

  #stopGap(): void {
    clearTimeout(this.#gap?.timer);
    this.#gap = undefined;
  }

  /** What waits would run on a state that its sender never meant, so it fails, and later requests go on from there. */
  #giveUpGap(): void {
    const missing = this.#next;
    let last = missing;
    for (const sequence of this.#jobs.keys()) last = Math.max(last, sequence);
    for (const sequence of this.#refused) last = Math.max(last, sequence);
    this.#next = last + 1;
    this.#stopGap();
    this.#refused.clear();
    this.#failHeld(serverFault(`Request ${missing} of this model did not arrive within ${this.#gapMs / 1000} s.`));
  }

  #failHeld(reason: unknown): void {
    const held = [...this.#jobs.values()];
    this.#jobs.clear();
    for (const job of held) job.fail(reason);
  }
}
