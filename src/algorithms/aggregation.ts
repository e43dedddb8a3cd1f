// How per-token terms become one number. Backends sum over tokens, so every other convention is a factor on the
// advantages. A global factor cancels under Adam (but not against a gradient-norm limit); relative ones never do.
// Sources: DAPO (arXiv 2503.14476, token-level loss), Dr. GRPO (arXiv 2503.20783, constant normaliser).

import { countActionTokens, type PolicyRow } from './rows.ts';

/**
 * - `sum`: as it is.
 * - `token_mean`: every sampled token of the batch weighs the same.
 * - `sequence_mean`: every row weighs the same, so tokens of long rows weigh less. Long rows are mostly failures,
 *   and this spares them; here for comparison.
 */
export type Aggregation = 'sum' | 'token_mean' | 'sequence_mean';

/** The rows with their advantages scaled. Rows without sampled tokens stay as they are. */
export function aggregate(rows: readonly PolicyRow[], aggregation: Aggregation): readonly PolicyRow[] {
  switch (aggregation) {
    case 'sum':
      return rows;
    case 'token_mean': {
      const factor = 1 / Math.max(1, countActionTokens(rows));
      return rows.map((row) => scale(row, factor));
    }
    case 'sequence_mean':
      return rows.map((row) => scale(row, 1 / (rows.length * Math.max(1, countActionTokens([row])))));
  }
  return aggregation satisfies never;
}

function scale(row: PolicyRow, factor: number): PolicyRow {
  return { ...row, advantages: row.advantages.map((advantage) => advantage * factor) };
}
