// Metrics of several chunks into those of the whole call, by the suffix of their names, as clients of Tinker do it.
// Source: the SDK's chunked forward_backward helpers.

export type ChunkMetrics = {
  readonly metrics: Readonly<Record<string, number>>;
  /** Rows of the chunk, which means are weighted by. */
  readonly count: number;
};

type Reduce = (chunks: readonly { readonly value: number; readonly count: number }[]) => number;

const mean: Reduce = (chunks) => {
  const total = chunks.reduce((sum, { count }) => sum + count, 0);
  return total === 0 ? NaN : chunks.reduce((sum, { value, count }) => sum + value * count, 0) / total;
};

/** Checksums that do not depend on the order: the sum of whole numbers modulo 2^64, to the precision of a double. */
const hash: Reduce = (chunks) =>
  Number(
    BigInt.asUintN(
      64,
      chunks.reduce((sum, { value }) => sum + (Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n), 0n),
    ),
  );

const REDUCTIONS: Readonly<Record<string, Reduce>> = {
  mean,
  sum: (chunks) => chunks.reduce((sum, { value }) => sum + value, 0),
  min: (chunks) => Math.min(...chunks.map(({ value }) => value)),
  max: (chunks) => Math.max(...chunks.map(({ value }) => value)),
  slack: (chunks) => Math.max(...chunks.map(({ value }) => value)) - mean(chunks),
  hash2: hash,
  /** Servers of before SDK 0.26; Python's own hash of a tuple cannot be had here, and any checksum serves. */
  hash_unordered: hash,
};

/**
 * Of one chunk as it came. Of more: names that every chunk has. `unique`, and reductions that are not known here, keep each
 * value, the later ones under `name_1`, `name_2`.
 */
export function reduceMetrics(chunks: readonly ChunkMetrics[]): Readonly<Record<string, number>> {
  if (chunks.length === 1) return chunks[0].metrics;
  const reduced: Record<string, number> = {};
  for (const name of Object.keys(chunks[0]?.metrics ?? {})) {
    if (!chunks.every(({ metrics }) => Object.hasOwn(metrics, name))) continue;
    const values = chunks.map(({ metrics, count }) => ({ value: metrics[name], count }));
    const reduction = name.slice(name.lastIndexOf(':') + 1);
    if (Object.hasOwn(REDUCTIONS, reduction)) reduced[name] = REDUCTIONS[reduction](values);
    else values.forEach(({ value }, i) => (reduced[i === 0 ? name : `${name}_${i}`] = value));
  }
  return reduced;
}
