// Weights of samplers that can be read again from disk, kept in memory as far as a budget goes; those not used for
// longest are given up first. Knows nothing of models.

import type { Feeds } from './session.ts';

export type WeightCacheOptions = {
  /** Floats kept in memory; one sampler's weights are kept whatever their size. */
  readonly maxFloats: number;
};

export class WeightCache {
  readonly #maxFloats: number;
  /** In order of use, the latest last. */
  readonly #entries = new Map<string, Promise<Feeds>>();
  readonly #sizes = new Map<string, number>();

  constructor({ maxFloats }: WeightCacheOptions) {
    this.#maxFloats = maxFloats;
  }

  /** The weights of `key`, read by `load` if they are not here. */
  async get(key: string, load: () => Promise<Feeds>): Promise<Feeds> {
    const known = this.#entries.get(key);
    const entry = known ?? load();
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (known) return known;
    try {
      const feeds = await entry;
      this.#sizes.set(
        key,
        Object.values(feeds).reduce((sum, { data }) => sum + data.length, 0),
      );
      this.#shrink(key);
      return feeds;
    } catch (error) {
      // What could not be read once may be there the next time.
      this.forget(key);
      throw error;
    }
  }

  forget(key: string): void {
    this.#entries.delete(key);
    this.#sizes.delete(key);
  }

  /** Floats in memory. */
  get size(): number {
    return [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  #shrink(kept: string): void {
    for (const key of [...this.#entries.keys()]) {
      if (this.size <= this.#maxFloats) return;
      if (key !== kept && this.#sizes.has(key)) this.forget(key);
    }
  }
}
