// Keys and values of the sequences of a batch, [rows, heads, places, size] a layer, where the decoding step reads them.
// Rows come, move and go, a place more of each is filled at every step, and room is made when it runs out.

import type { Feeds } from './session.ts';

export type RowCacheShape = {
  readonly layers: number;
  readonly heads: number;
  readonly size: number;
};

/** Keys and values of one sequence, [heads, places, size] a layer, of which the first `length` places count. */
export type SequenceCache = {
  readonly key: readonly Float32Array[];
  readonly value: readonly Float32Array[];
  readonly places: number;
};

const PARTS = ['key', 'value'] as const;

export class RowCache {
  readonly #shape: RowCacheShape;
  #rows = 0;
  #places = 0;
  #storage: { key: Float32Array[]; value: Float32Array[] };

  constructor(shape: RowCacheShape) {
    this.#shape = shape;
    this.#storage = this.#allocate();
  }

  /** Rows that there is room for. */
  get rows(): number {
    return this.#rows;
  }

  get places(): number {
    return this.#places;
  }

  /** Makes room for `rows` rows of `places` places, and keeps what fits of the first `used` rows. */
  resize(rows: number, places: number, used: number): void {
    if (rows === this.#rows && places === this.#places) return;
    const { layers, heads, size } = this.#shape;
    const [before, old] = [this.#storage, this.#places];
    this.#rows = rows;
    this.#places = places;
    this.#storage = this.#allocate();
    const kept = Math.min(old, places) * size;
    for (const part of PARTS) {
      for (let layer = 0; layer < layers; layer++) {
        const [from, to] = [before[part][layer], this.#storage[part][layer]];
        for (let line = 0; line < used * heads; line++)
          to.set(from.subarray(line * old * size, line * old * size + kept), line * places * size);
      }
    }
  }

  /** The first `length` places of a sequence as row `row`. */
  fill(row: number, sequence: SequenceCache, length: number): void {
    const { layers, heads, size } = this.#shape;
    for (const part of PARTS) {
      for (let layer = 0; layer < layers; layer++) {
        for (let head = 0; head < heads; head++) {
          const from = head * sequence.places * size;
          const block = sequence[part][layer].subarray(from, from + length * size);
          this.#storage[part][layer].set(block, (row * heads + head) * this.#places * size);
        }
      }
    }
  }

  /** Row `to` begins with the first `length` places of row `from`. */
  copy(from: number, to: number, length: number): void {
    if (from === to) return;
    const { layers, heads, size } = this.#shape;
    const line = this.#places * size;
    for (const part of PARTS)
      for (let layer = 0; layer < layers; layer++)
        for (let head = 0; head < heads; head++) {
          const start = (from * heads + head) * line;
          this.#storage[part][layer].copyWithin((to * heads + head) * line, start, start + length * size);
        }
  }

  /** The first `rows` rows, as inputs of the step: `<name>.key.<layer>` and `<name>.value.<layer>`. */
  feeds(rows: number, name = 'past'): Feeds {
    const { layers, heads, size } = this.#shape;
    const feeds: Record<string, Feeds[string]> = {};
    const shape = [rows, heads, this.#places, size];
    for (const part of PARTS) {
      for (let layer = 0; layer < layers; layer++) {
        const data = this.#storage[part][layer].subarray(0, rows * heads * this.#places * size);
        feeds[`${name}.${part}.${layer}`] = { data, shape };
      }
    }
    return feeds;
  }

  /** Puts the new key and value of each row, [rows, heads, 1, size] a layer as the step gives them, at its place. */
  append(given: (part: 'key' | 'value', layer: number) => Float32Array, places: readonly number[]): void {
    const { layers, heads, size } = this.#shape;
    for (const part of PARTS) {
      for (let layer = 0; layer < layers; layer++) {
        const fresh = given(part, layer);
        const buffer = this.#storage[part][layer];
        for (let row = 0; row < places.length; row++) {
          for (let head = 0; head < heads; head++) {
            const line = row * heads + head;
            const from = line * size;
            const to = (line * this.#places + places[row]) * size;
            // So few numbers are moved sooner one by one than by a view of them.
            for (let i = 0; i < size; i++) buffer[to + i] = fresh[from + i];
          }
        }
      }
    }
  }

  #allocate(): { key: Float32Array[]; value: Float32Array[] } {
    const { layers, heads, size } = this.#shape;
    const part = (): Float32Array[] =>
      Array.from({ length: layers }, () => new Float32Array(this.#rows * heads * this.#places * size));
    return { key: part(), value: part() };
  }
}
