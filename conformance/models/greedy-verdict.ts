// Continuations judged against transformers (`greedy-check.py`): the same to the end, equal up to a near-tie (excused,
// counted and, beyond it, still followed token by token), or different.

import { ask } from './places.ts';

/** Log-probability between the best two tokens below which either may be chosen. */
export const NEAR_TIE = 0.01;

export type Continuation = { readonly prompt: readonly number[]; readonly tokens: readonly number[] };
type Choice = { readonly best: number; readonly gap: number };

export type GreedyVerdict = {
  readonly identical: number;
  /** Continuations with a token that is not transformers' first choice, all of them at near-ties. */
  readonly excused: number;
  /** One line for each that is different: where, and how far apart the choices were. */
  readonly different: readonly string[];
  /** Tokens compared, and near-ties among them whether or not anything came of them. */
  readonly tokens: number;
  readonly nearTies: number;
};

export type GreedyLimits = { readonly tokens: number; readonly stop: number };

/** `model`: a Hugging Face folder. A continuation that ends early, without the stop token, is different. */
export async function judgeGreedy(
  model: string,
  rows: readonly Continuation[],
  { tokens, stop }: GreedyLimits,
): Promise<GreedyVerdict> {
  const choices = await ask<Choice[][]>('greedy-check.py', { input: { model, rows } });
  let [identical, excused] = [0, 0];
  const different: string[] = [];
  for (const [i, row] of rows.entries()) {
    const others = choices[i].filter(({ best }, t) => best !== row.tokens[t]);
    const bad = choices[i].findIndex(({ best, gap }, t) => best !== row.tokens[t] && gap >= NEAR_TIE);
    const ends = row.tokens.length === tokens || row.tokens.at(-1) === stop;
    if (!ends) different.push(`prompt ${i}: ${row.tokens.length} tokens, without an end`);
    else if (bad >= 0) different.push(`prompt ${i}: token ${bad}, gap ${choices[i][bad].gap.toFixed(4)}`);
    else if (others.length > 0) excused++;
    else identical++;
  }
  const all = choices.flat();
  const nearTies = all.filter(({ gap }) => gap < NEAR_TIE).length;
  return { identical, excused, different, tokens: all.length, nearTies };
}
