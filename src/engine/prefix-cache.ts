// Keys and values of prompts that were read, by their tokens: a prompt that begins like an earlier one is read from where
// they part. Kept as far as a budget goes; those not used for longest are given up first.

import type { SequenceCache } from './row-cache.ts';

/** Floats of keys and values that a sampler keeps by default, 512 MiB: twenty prompts of 600 tokens of a model of 135 M. */
export const KEPT_PROMPT_FLOATS = 2 ** 27;

type Entry = { readonly tokens: readonly number[]; readonly cache: SequenceCache; readonly floats: number };

export class PrefixCache {
  readonly #maxFloats: number;
  /** The latest used last. */
  readonly #entries: Entry[] = [];
  #floats = 0;

  constructor({ maxFloats }: { readonly maxFloats: number }) {
    this.#maxFloats = maxFloats;
  }

  /** The earlier prompt that shares the longest beginning, and how much of it. */
  find(tokens: readonly number[]): { readonly cache: SequenceCache; readonly length: number } | undefined {
    let best: { readonly entry: Entry; readonly length: number } | undefined;
    for (const entry of this.#entries) {
      const length = commonLength(entry.tokens, tokens);
      if (length > 0 && length >= (best?.length ?? 0)) best = { entry, length };
    }
    if (!best) return undefined;
    this.#entries.splice(this.#entries.indexOf(best.entry), 1);
    this.#entries.push(best.entry);
    return { cache: best.entry.cache, length: best.length };
  }

  add(tokens: readonly number[], cache: SequenceCache): void {
    const floats = [...cache.key, ...cache.value].reduce((sum, part) => sum + part.length, 0);
    // One that a longer prompt holds whole is of no further use.
    this.#drop((entry) => commonLength(entry.tokens, tokens) === entry.tokens.length);
    if (floats > this.#maxFloats) return;
    this.#entries.push({ tokens, cache, floats });
    this.#floats += floats;
    while (this.#floats > this.#maxFloats) this.#floats -= this.#entries.shift()!.floats;
  }

  clear(): void {
    this.#drop(() => true);
  }

  #drop(which: (entry: Entry) => boolean): void {
    for (let i = this.#entries.length - 1; i >= 0; i--) {
      if (!which(this.#entries[i])) continue;
      this.#floats -= this.#entries[i].floats;
      this.#entries.splice(i, 1);
    }
  }
}

function commonLength(a: readonly number[], b: readonly number[]): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) length++;
  return length;
}
