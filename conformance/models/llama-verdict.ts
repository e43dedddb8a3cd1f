// What llama.cpp does with the files of `adapted-smollm2.ts`: greedy continuations from F16, which transformers must have
// too, and Q8_0 against F16 at every position of some of those texts. With the bounds that Q8_0 must keep.

import type { AdaptedSmolLm2 } from './adapted-smollm2.ts';
import { judgeGreedy, NEAR_TIE, type GreedyVerdict } from './greedy-verdict.ts';
import { ask } from './places.ts';

/**
 * Of Q8_0 against F16, near-ties of F16 left out of the agreement. They are bounds of the format and of llama.cpp's
 * activations of 8 bits: the `gguf` package's own file must keep them as well, and with ours llama.cpp must do exactly the same.
 * Measured: 0.9753 and 0.00588 nats of both, see docs/results/models.md for why the bounds lie where they do.
 */
export const Q8_LEAST_AGREEMENT = 0.95;
export const Q8_MOST_DIVERGENCE = 0.01;
export const LEAST_POSITIONS = 500;
const COMPARED_TEXTS = 8;

export type LlamaVerdict = {
  readonly greedy: GreedyVerdict;
  readonly ours: RoundedVerdict;
  readonly peer: RoundedVerdict;
};

export type RoundedVerdict = {
  readonly positions: number;
  readonly nearTies: number;
  readonly agreeing: number;
  /** Nats. */
  readonly meanKl: number;
  readonly largestKl: number;
};

/** Needs the peer's Q8_0 file. */
export async function judgeLlama(
  model: AdaptedSmolLm2,
  { prompts, tokens }: { readonly prompts: readonly number[][]; readonly tokens: number },
): Promise<LlamaVerdict> {
  const { stop } = model;
  const found = await ask<number[][]>('llama-run.mjs', {
    input: { greedy: { file: model.gguf('F16'), prompts, tokens, stop } },
  });
  const rows = prompts.map((prompt, i) => ({ prompt, tokens: found[i] }));
  const greedy = await judgeGreedy(model.merged, rows, { tokens, stop });
  const [ours, peer] = await ask<RoundedVerdict[]>('llama-run.mjs', {
    input: {
      compare: {
        files: [model.gguf('F16'), model.gguf('Q8_0'), model.peer('Q8_0')],
        texts: spread(rows).map((row) => [...row.prompt, ...row.tokens]),
        nearTie: NEAR_TIE,
      },
    },
  });
  return { greedy, ours, peer };
}

/** Enough of them, of every kind. */
function spread<T>(rows: readonly T[]): T[] {
  const stride = Math.max(1, Math.floor(rows.length / COMPARED_TEXTS));
  return rows.filter((_, i) => i % stride === 0);
}

/** Share of the positions where F16 has a clear first choice. */
export const agreementOf = ({ agreeing, positions, nearTies }: RoundedVerdict): number =>
  agreeing / (positions - nearTies);

export function describeRounded(name: string, verdict: RoundedVerdict): string {
  const { agreeing, positions, nearTies, meanKl, largestKl } = verdict;
  const share = `${agreeing} of ${positions - nearTies} (${agreementOf(verdict).toFixed(4)})`;
  return `${name}: first choice as F16's at ${share}, ${nearTies} near-ties left out, divergence mean ${meanKl.toFixed(5)}, largest ${largestKl.toFixed(4)}`;
}
