// Keys and values of a batch between two runs of the engine: per layer one buffer of equal blocks, one block a
// sequence. Only moves blocks about; their shape is the graph's business.

export type Cache = { readonly k: readonly Float32Array[]; readonly v: readonly Float32Array[] };

export function takeCache(outputs: Readonly<Record<string, Float32Array>>, layers: number): Cache {
  const part = (name: 'k' | 'v'): Float32Array[] =>
    Array.from({ length: layers }, (_, layer) => outputs[`${name}.${layer}`]);
  return { k: part('k'), v: part('v') };
}

export function emptyCache(layers: number): Cache {
  const part = (): Float32Array[] => Array.from({ length: layers }, () => new Float32Array(0));
  return { k: part(), v: part() };
}

/** Blocks of `cache` (which has `count` of them) by index; an index may repeat. */
export function selectCache(cache: Cache, count: number, indices: readonly number[]): Cache {
  const select = (buffer: Float32Array): Float32Array => selectBlocks(buffer, count, indices);
  return { k: cache.k.map(select), v: cache.v.map(select) };
}

/** The blocks of one buffer of `count` equal blocks, in the order of `indices`; the buffer itself when that changes nothing. */
export function selectBlocks(buffer: Float32Array, count: number, indices: readonly number[]): Float32Array {
  if (indices.length === count && indices.every((from, to) => from === to)) return buffer;
  const size = buffer.length / count;
  const selected = new Float32Array(indices.length * size);
  indices.forEach((from, to) => selected.set(buffer.subarray(from * size, (from + 1) * size), to * size));
  return selected;
}
