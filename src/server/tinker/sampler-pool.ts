// Samplers of saved weights, opened when first asked and kept for as long as there is room: those that nobody uses go
// first, the longest unused before others. Each is an immutable snapshot.

import type { Sampler } from '../../core/index.ts';
import { serverFault } from './refusals.ts';

type Entry = { readonly sampler: Promise<Sampler>; users: number; usedAt: number };

export type SamplerPoolOptions = {
  /** Samplers that are kept open without being used. */
  readonly keep: number;
};

export class SamplerPool {
  readonly #keep: number;
  readonly #entries = new Map<string, Entry>();
  #uses = 0;
  #closed = false;

  constructor({ keep }: SamplerPoolOptions) {
    this.#keep = keep;
  }

  get open(): number {
    return this.#entries.size;
  }

  /** Runs `work` with the sampler of `key`, which stays open until it ends. */
  async use<T>(key: string, open: () => Promise<Sampler>, work: (sampler: Sampler) => Promise<T>): Promise<T> {
    if (this.#closed) throw serverFault('The server is shutting down.');
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { sampler: open(), users: 0, usedAt: 0 };
      this.#entries.set(key, entry);
    }
    entry.users++;
    entry.usedAt = ++this.#uses;
    try {
      return await work(await entry.sampler);
    } catch (error) {
      // One that could not be opened is tried anew by the next.
      const failed = await entry.sampler.then(
        () => false,
        () => true,
      );
      if (failed && this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    } finally {
      entry.users--;
      await this.#trim();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(entries.map(dispose));
  }

  async #trim(): Promise<void> {
    const unused = [...this.#entries]
      .filter(([, { users }]) => users === 0)
      .sort(([, a], [, b]) => a.usedAt - b.usedAt);
    const over = unused.slice(0, Math.max(0, unused.length - this.#keep));
    for (const [key] of over) this.#entries.delete(key);
    await Promise.all(over.map(([, entry]) => dispose(entry)));
  }
}

async function dispose({ sampler }: Entry): Promise<void> {
  const opened = await sampler.catch(() => undefined); // it never was
  await opened?.[Symbol.asyncDispose]();
}
