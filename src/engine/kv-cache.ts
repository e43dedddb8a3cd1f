// Keys and values of a batch between two runs of the engine, per layer. Those of the prompts are equal blocks, one a
// sequence; those of the tokens sampled since grow by one block a token. Only moves blocks about; their shape is the
// graph's business.

export type Cache = { readonly k: readonly Float32Array[]; readonly v: readonly Float32Array[] };

export function takeCache(outputs: Readonly<Record<string, Float32Array>>, layers: number): Cache {
  const part = (name: 'k' | 'v'): Float32Array[] =>
    Array.from({ length: layers }, (_, layer) => outputs[`${name}.${layer}`]);
  return { k: part('k'), v: part('v') };
}

/** Blocks of `cache` (which has `count` of them) by index; an index may repeat. */
export function selectCache(cache: Cache, count: number, indices: readonly number[]): Cache {
  return mapCache(cache, (buffer) => selectBlocks(buffer, count, indices));
}

/** The blocks of one buffer of `count` equal blocks, in the order of `indices`; the buffer itself when that changes nothing. */
export function selectBlocks(buffer: Float32Array, count: number, indices: readonly number[]): Float32Array {
  if (indices.length === count && indices.every((from, to) => from === to)) return buffer;
  const size = buffer.length / count;
  const selected = new Float32Array(indices.length * size);
  indices.forEach((from, to) => selected.set(buffer.subarray(from * size, (from + 1) * size), to * size));
  return selected;
}

/** Keys and values of sampled tokens, in storage that is read in place and doubled when it is full. */
export class RecentCache {
  #storage: Cache;
  #tokens = 0;

  constructor(layers: number) {
    const part = (): Float32Array[] => Array.from({ length: layers }, () => new Float32Array(0));
    this.#storage = { k: part(), v: part() };
  }

  /** Adds the blocks of one token more; all must be of one size. */
  append(token: Cache): void {
    const at = this.#tokens++;
    const put = (buffer: Float32Array, block: Float32Array): Float32Array => {
      const target = (at + 1) * block.length <= buffer.length ? buffer : new Float32Array(2 * (at + 1) * block.length);
      if (target !== buffer) target.set(buffer);
      target.set(block, at * block.length);
      return target;
    };
    this.#storage = {
      k: this.#storage.k.map((buffer, layer) => put(buffer, token.k[layer])),
      v: this.#storage.v.map((buffer, layer) => put(buffer, token.v[layer])),
    };
  }

  /** The tokens so far, `size` floats each and layer: [tokens, size]. */
  view(size: number): Cache {
    return mapCache(this.#storage, (buffer) => buffer.subarray(0, this.#tokens * size));
  }

  /** Leaves of every token, `size` floats, which hold `count` sequences, those of `indices`. */
  select(size: number, count: number, indices: readonly number[]): void {
    const every = Array.from({ length: this.#tokens }, (_, token) => indices.map((index) => token * count + index));
    this.#storage = selectCache(this.view(size), this.#tokens * count, every.flat());
  }
}

function mapCache({ k, v }: Cache, map: (buffer: Float32Array) => Float32Array): Cache {
  return { k: k.map(map), v: v.map(map) };
}
