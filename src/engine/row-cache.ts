// Keys and values of the sequences of a batch, [rows, heads, places, size] a layer, where the decoding step reads them.
// Rows move, a place more is filled at every step, and places are added when they run out.

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
  #places: number;
  #storage: { key: Float32Array[]; value: Float32Array[] };

  constructor(shape: RowCacheShape, rows: number, places: number) {
    this.#shape = shape;
    this.#places = places;
    this.#storage = this.#allocate(rows, places);
  }

  get places(): number {
    return this.#places;
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

  /** Row `from` takes the place of row `to`. */
  move(from: number, to: number): void {
    if (from === to) return;
    const block = this.#shape.heads * this.#places * this.#shape.size;
    for (const part of PARTS)
      for (const buffer of this.#storage[part]) buffer.copyWithin(to * block, from * block, (from + 1) * block);
  }

  /** Makes room for `places` places in each of the first `rows` rows. */
  grow(rows: number, places: number): void {
    const { layers, heads, size } = this.#shape;
    const before = this.#storage;
    const old = this.#places * size;
    this.#storage = this.#allocate(rows, places);
    this.#places = places;
    for (const part of PARTS)
      for (let layer = 0; layer < layers; layer++)
        for (let line = 0; line < rows * heads; line++)
          this.#storage[part][layer].set(
            before[part][layer].subarray(line * old, (line + 1) * old),
            line * places * size,
          );
  }

  /** The first `rows` rows, as inputs of the step. */
  feeds(rows: number): Feeds {
    const { layers, heads, size } = this.#shape;
    const feeds: Record<string, Feeds[string]> = {};
    const shape = [rows, heads, this.#places, size];
    for (const part of PARTS) {
      for (let layer = 0; layer < layers; layer++) {
        const data = this.#storage[part][layer].subarray(0, rows * heads * this.#places * size);
        feeds[`past.${part}.${layer}`] = { data, shape };
      }
    }
    return feeds;
  }

  /** Puts the new key and value of each row, as the step gives them, at its place. */
  append(outputs: Readonly<Record<string, Float32Array>>, places: readonly number[]): void {
    const { layers, heads, size } = this.#shape;
    for (const part of PARTS) {
      for (let layer = 0; layer < layers; layer++) {
        const fresh = outputs[`${part}.${layer}`];
        const buffer = this.#storage[part][layer];
        places.forEach((place, row) => {
          for (let head = 0; head < heads; head++) {
            const line = row * heads + head;
            buffer.set(fresh.subarray(line * size, (line + 1) * size), (line * this.#places + place) * size);
          }
        });
      }
    }
  }

  #allocate(rows: number, places: number): { key: Float32Array[]; value: Float32Array[] } {
    const { layers, heads, size } = this.#shape;
    const part = (): Float32Array[] =>
      Array.from({ length: layers }, () => new Float32Array(rows * heads * places * size));
    return { key: part(), value: part() };
  }
}
