// Cross-entropy with K targets a token ([N, K], row after row; Tinker's top-K distillation) as K rows of one target
// each: exact with the graphs as they are, at K times the work.

import type { Datum } from '../core/index.ts';

export type TargetColumns = {
  /** Rows with one target a token. */
  readonly rows: readonly Datum[];
  /** Log-probabilities of `rows` put back together, one array a datum, aligned with its targets. */
  readonly join: (logprobs: readonly Float32Array[]) => readonly Float32Array[];
};

/** Rows that are not aligned are left as they are, for the packing to refuse. */
export function splitTargets(data: readonly Datum[]): TargetColumns {
  const counts = data.map(({ tokens, lossInputs: { targetTokens, weights } }) => {
    const count = targetTokens.length / tokens.length;
    return Number.isInteger(count) && count > 1 && weights?.length === targetTokens.length ? count : 1;
  });
  if (counts.every((count) => count === 1)) return { rows: data, join: (logprobs) => logprobs };
  const rows = data.flatMap((datum, row) => {
    const { tokens, lossInputs } = datum;
    const count = counts[row];
    if (count === 1) return [datum];
    return Array.from({ length: count }, (_, k): Datum => {
      const column = (values: readonly number[]): number[] => values.filter((_value, entry) => entry % count === k);
      return {
        tokens,
        lossInputs: {
          ...lossInputs,
          targetTokens: column(lossInputs.targetTokens),
          weights: column(lossInputs.weights!),
        },
      };
    });
  });
  const join = (logprobs: readonly Float32Array[]): readonly Float32Array[] => {
    let first = 0;
    return data.map(({ lossInputs }, row) => {
      const [count, from] = [counts[row], first];
      first += count;
      return Float32Array.from(lossInputs.targetTokens, (_, e) => logprobs[from + (e % count)][Math.floor(e / count)]);
    });
  };
  return { rows, join };
}
