// Trajectories as training rows. What is trained on is exactly what was sampled: ids are taken from the turns,
// nothing is rendered again. Knows no environment and no loss; advantages are filled in as given.
// Source: tinker-cookbook, `trajectory_to_data` (sequence extension).

import type { Datum, Turn } from '../core/index.ts';

/** A datum for the policy losses, with the mask that Tinker's wire format has no field for. */
export type PolicyRow = {
  readonly tokens: readonly number[];
  /** `targets[t]` follows `tokens[0..t]`. */
  readonly targets: readonly number[];
  /** The sampler's log-probability of each target; 0 where nothing was sampled. */
  readonly logprobs: readonly number[];
  readonly advantages: readonly number[];
  /** 1 where the target was sampled by the policy. */
  readonly mask: readonly number[];
};

export type SampledTurn = Pick<Turn, 'promptTokens' | 'actionTokens' | 'logprobs'>;

/**
 * One row for as long as each prompt extends the sequence so far, a new row where it does not (a renderer that
 * rewrites the past): rows per trajectory is the price of a renderer, 1 at best.
 */
export function trajectoryToRows(turns: readonly SampledTurn[], advantage: number): readonly PolicyRow[] {
  const rows: PolicyRow[] = [];
  let current: Sequence | null = null;
  for (const turn of turns) {
    if (current === null || !isPrefix(current.tokens, turn.promptTokens)) {
      if (current !== null) rows.push(shiftRight(current));
      current = { tokens: [], logprobs: [], advantages: [], mask: [] };
    }
    for (let i = current.tokens.length; i < turn.promptTokens.length; i++) push(current, turn.promptTokens[i], 0, 0, 0);
    turn.actionTokens.forEach((token, i) => push(current!, token, turn.logprobs[i], advantage, 1));
  }
  if (current !== null) rows.push(shiftRight(current));
  return rows;
}

/** The row as a policy-loss datum. */
export function policyDatum(row: PolicyRow): Datum {
  return {
    tokens: row.tokens,
    lossInputs: { targetTokens: row.targets, logprobs: row.logprobs, advantages: row.advantages },
  };
}

/** Number of sampled tokens in the rows. */
export function countActionTokens(rows: readonly PolicyRow[]): number {
  return rows.reduce((sum, row) => sum + row.mask.reduce((a, b) => a + b, 0), 0);
}

type Sequence = { tokens: number[]; logprobs: number[]; advantages: number[]; mask: number[] };

function push(sequence: Sequence, token: number, logprob: number, advantage: number, mask: number): void {
  sequence.tokens.push(token);
  sequence.logprobs.push(logprob);
  sequence.advantages.push(advantage);
  sequence.mask.push(mask);
}

function shiftRight({ tokens, logprobs, advantages, mask }: Sequence): PolicyRow {
  return {
    tokens: tokens.slice(0, -1),
    targets: tokens.slice(1),
    logprobs: logprobs.slice(1),
    advantages: advantages.slice(1),
    mask: mask.slice(1),
  };
}

export function isPrefix(head: readonly number[], whole: readonly number[]): boolean {
  return head.length <= whole.length && head.every((token, i) => whole[i] === token);
}
