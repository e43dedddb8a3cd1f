// Which requests of one sampler have ended, in the order they did, for clients that ask for many at once by cursor. The
// results themselves are futures as ever.

import { onAbort } from '../../util/index.ts';

export type Completion = { readonly state: 'finished' | 'failed'; readonly request_id: string };

/** Older entries go; a client asks far more often than this many requests end. */
const KEEP = 10_000;

export class CompletionLog {
  readonly #entries: Completion[] = [];
  /** Cursor of the first entry. */
  #first = 0;
  readonly #waiters = new Set<() => void>();

  /** Of whoever has seen everything. */
  get cursor(): number {
    return this.#first + this.#entries.length;
  }

  add(completion: Completion): void {
    this.#entries.push(completion);
    if (this.#entries.length > KEEP) {
      this.#entries.shift();
      this.#first++;
    }
    for (const wake of [...this.#waiters]) wake();
  }

  since(cursor: number): readonly Completion[] {
    return this.#entries.slice(Math.max(0, cursor - this.#first));
  }

  /** Resolves when there is something after `cursor`, when time is up or when the caller hangs up. */
  async wait(cursor: number, { ms, signal }: { readonly ms: number; readonly signal: AbortSignal }): Promise<void> {
    if (this.cursor > cursor || signal.aborted || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        off();
        this.#waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      const off = onAbort(signal, done);
      this.#waiters.add(done);
    });
  }
}
