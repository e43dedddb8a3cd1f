// Keys and values of the prompts of running sequences, once each however many sequences have them; and which sequences
// those are, so that attention over a prompt is one product for all of them.

import { MASKED } from './packing.ts';
import type { ModelConfig } from './model-config.ts';
import { RowCache, type SequenceCache } from './row-cache.ts';
import type { Row } from './sampled-rows.ts';
import type { Feeds } from './session.ts';

/** Places are multiples of this; a row's numbers are the same at each of them. */
const PLACES = 64;

export type SharedPrompt = { readonly key: string; readonly length: number; readonly cache: SequenceCache };

export class SharedPrompts {
  readonly #cache: RowCache;
  readonly #held: { readonly key: string; readonly length: number }[] = [];

  constructor({ layers, kvHeads, headDim }: ModelConfig) {
    this.#cache = new RowCache({ layers, heads: kvHeads, size: headDim });
  }

  get places(): number {
    return this.#cache.places;
  }

  add(prompts: readonly SharedPrompt[]): void {
    if (prompts.length === 0) return;
    const count = this.#held.length + prompts.length;
    const rows = count <= this.#cache.rows ? this.#cache.rows : Math.max(count, Math.ceil(1.5 * this.#cache.rows));
    this.#resize(rows, [...this.#held, ...prompts]);
    for (const { key, length, cache } of prompts) {
      this.#cache.fill(this.#held.length, cache, length);
      this.#held.push({ key, length });
    }
  }

  /** Lets go of all others. */
  keep(keys: ReadonlySet<string>): void {
    const held = this.#held;
    const before = held.length;
    for (let i = held.length - 1; i >= 0; i--) {
      if (keys.has(held[i].key)) continue;
      const last = held.pop()!;
      if (i === held.length) continue;
      this.#cache.copy(held.length, i, last.length);
      held[i] = last;
    }
    if (held.length < before && held.length > 0) this.#resize(this.#cache.rows, held);
  }

  /** Inputs of `groupedAttention` but for the rows' own caches, which have `places` places. */
  feeds(config: ModelConfig, rows: readonly Row[], places: number): Feeds {
    const { heads, kvHeads, headDim } = config;
    const folds = heads / kvHeads;
    const [prompts, time] = [this.#held.length, this.places];
    const of = new Map(this.#held.map(({ key }, i) => [key, i]));
    const members: number[][] = this.#held.map(() => []);
    rows.forEach(({ key }, row) => members[of.get(key)!].push(row));
    // A product of one row is computed otherwise than one of several.
    const most = Math.max(folds === 1 ? 2 : 1, ...members.map(({ length }) => length));
    const lines = new BigInt64Array(prompts * most);
    const slots = new BigInt64Array(rows.length);
    members.forEach((group, prompt) =>
      group.forEach((row, member) => {
        lines[prompt * most + member] = BigInt(row);
        slots[row] = BigInt(prompt * most + member);
      }),
    );
    const shape = (...dims: number[]): Feeds[string] => ({
      data: BigInt64Array.from(dims, BigInt),
      shape: [dims.length],
    });
    return {
      ...this.#cache.feeds(prompts, 'shared'),
      ...groupedMasks(config, rows, { time, places }),
      lines: { data: lines, shape: [lines.length] },
      slots: { data: slots, shape: [slots.length] },
      parts: shape(1, time, places),
      'shape.query': shape(prompts, most, kvHeads, folds, headDim),
      'shape.scores': shape(prompts, kvHeads, most, folds, time),
      'shape.lines': shape(prompts * most, kvHeads, folds, time),
      'shape.split': shape(prompts, most, kvHeads, folds, time),
      'shape.weights': shape(prompts, kvHeads, most * folds, time),
    };
  }

  #resize(rows: number, prompts: readonly { readonly length: number }[]): void {
    const wanted = PLACES * Math.ceil(Math.max(...prompts.map(({ length }) => length)) / PLACES);
    const places = wanted > this.places || 2 * wanted <= this.places ? wanted : this.places;
    this.#cache.resize(rows, places, this.#held.length);
  }
}

/** [B, 1, 1, 1 + T + S]: the new token, the places of its prompt, its own places. */
function groupedMasks(
  { sliding }: ModelConfig,
  rows: readonly Row[],
  { time, places }: { readonly time: number; readonly places: number },
): Feeds {
  const width = 1 + time + places;
  const make = (window: number): Feeds[string] => {
    const data = new Float32Array(rows.length * width);
    rows.forEach(({ prompt, tokens }, row) => {
      const line = data.subarray(row * width, (row + 1) * width);
      const first = Math.max(0, prompt.length + tokens.length - window);
      line.fill(MASKED, 1 + prompt.length, 1 + time);
      line.fill(MASKED, 1, 1 + Math.min(first, prompt.length));
      line.fill(MASKED, time + tokens.length);
      line.fill(MASKED, 1 + time, 1 + time + Math.max(0, first - prompt.length));
    });
    return { data, shape: [rows.length, 1, 1, width] };
  };
  const full = make(Infinity);
  return sliding ? { mask: full, 'mask.sliding': make(sliding.window) } : { mask: full };
}
