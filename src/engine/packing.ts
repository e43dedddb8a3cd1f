// Training rows to micro-batches: rows of similar length share one, padded to the longest of them and to nothing
// else, until the token budget is reached. Order is a pure function of the data.

import { TabwrightError, type Datum, type LossName } from '../core/index.ts';
import { LOSS_VECTORS } from './losses.ts';
import type { ModelConfig } from './model-config.ts';
import type { Feeds } from './session.ts';

/** Which targets get a log-probability: all of them, or those with a weight or an advantage. */
export type ScoredPositions = 'all' | 'weighted';

export type MicroBatch = {
  /** Positions of the rows in the caller's array. */
  readonly rows: readonly number[];
  readonly batch: number;
  /** Padded length. */
  readonly time: number;
  /** [batch * time]; padding is id 0 and is never attended to by a real token. */
  readonly ids: BigInt64Array;
  /** Scored positions as indices into ids, and where each goes: row and position in the caller's data. */
  readonly index: BigInt64Array;
  readonly targets: BigInt64Array;
  readonly origin: readonly { readonly row: number; readonly position: number }[];
  /** Loss inputs at the scored positions, by name. */
  readonly vectors: Readonly<Record<string, Float32Array>>;
};

/** What one more run of the graph costs, in tokens that could have been computed instead: an estimate, not a measurement. */
const GROUP_COST_TOKENS = 200;

/** Where this input of a loss is zero, a position changes nothing. dro's penalty acts where the advantage is zero too. */
const GATES = {
  cross_entropy: 'weights',
  importance_sampling: 'advantages',
  ppo: 'advantages',
  cispo: 'advantages',
  dro: undefined,
  gspo: 'sequenceRatioMask',
} as const satisfies Record<LossName, keyof Datum['lossInputs'] | undefined>;

export type PackOptions = {
  readonly loss: LossName;
  readonly scored: ScoredPositions;
  /** Upper bound on padded tokens a micro-batch; a longer row goes alone. */
  readonly tokenBudget: number;
  readonly vocabSize: number;
  readonly maxPositions: number;
};

export function packMicroBatches(data: readonly Datum[], options: PackOptions): MicroBatch[] {
  data.forEach((datum, row) => checkDatum(datum, row, options));
  const order = data.map((_, row) => row).sort((a, b) => data[a].tokens.length - data[b].tokens.length || a - b);
  const groups = cutByLength(order, data, options.tokenBudget);
  return groups.map((rows) => buildMicroBatch(data, rows, options));
}

/**
 * Cuts rows in ascending order of length into consecutive groups such that padded tokens, plus a fixed cost a group,
 * are as few as possible: dynamic programming over the last cut.
 */
function cutByLength(order: readonly number[], data: readonly Datum[], tokenBudget: number): number[][] {
  const lengths = order.map((row) => data[row].tokens.length);
  const best = [0];
  const cutBefore = [0];
  for (let end = 1; end <= order.length; end++) {
    const longest = lengths[end - 1];
    best[end] = Infinity;
    for (let start = end - 1; start >= 0; start--) {
      const padded = (end - start) * longest;
      if (padded > tokenBudget && end - start > 1) break;
      const cost = best[start] + padded + GROUP_COST_TOKENS;
      if (cost < best[end]) {
        best[end] = cost;
        cutBefore[end] = start;
      }
    }
  }
  const groups: number[][] = [];
  for (let end = order.length; end > 0; end = cutBefore[end]!) groups.unshift(order.slice(cutBefore[end], end));
  return groups;
}

function buildMicroBatch(data: readonly Datum[], rows: readonly number[], { loss, scored }: PackOptions): MicroBatch {
  const time = data[rows.at(-1)!].tokens.length;
  const ids = new BigInt64Array(rows.length * time);
  const origin: { row: number; position: number }[] = [];
  const index: bigint[] = [];
  const targets: bigint[] = [];
  const names = LOSS_VECTORS[loss];
  const vectors: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  const gate = scored === 'all' ? undefined : GATES[loss];
  rows.forEach((row, line) => {
    const { tokens, lossInputs } = data[row];
    tokens.forEach((token, position) => {
      ids[line * time + position] = BigInt(token);
      if (gate && lossInputs[gate]![position] === 0) return;
      index.push(BigInt(line * time + position));
      targets.push(BigInt(lossInputs.targetTokens[position]));
      origin.push({ row, position });
      for (const name of names) vectors[name].push(lossInputs[name]![position]);
    });
  });
  return {
    rows,
    batch: rows.length,
    time,
    ids,
    index: BigInt64Array.from(index),
    targets: BigInt64Array.from(targets),
    origin,
    vectors: Object.fromEntries(names.map((name) => [name, Float32Array.from(vectors[name])])),
  };
}

/** 1 where scored position n belongs to the r-th of a micro-batch's rows: [rows, positions]. */
export function rowIndicator({ rows, origin }: MicroBatch): Float32Array {
  const line = new Map(rows.map((row, i) => [row, i]));
  const matrix = new Float32Array(rows.length * origin.length);
  origin.forEach(({ row }, n) => (matrix[line.get(row)! * origin.length + n] = 1));
  return matrix;
}

/** Refuses a row that the graph could not read, before anything is computed. */
function checkDatum({ tokens, lossInputs }: Datum, row: number, { loss, vocabSize, maxPositions }: PackOptions): void {
  const fail = (message: string, code: string): never => {
    throw new TabwrightError('backend', `Training row ${row}: ${message}`, { code, details: { row, loss } });
  };
  if (tokens.length === 0) fail('it has no tokens; leave empty rows out.', 'empty-datum');
  if (tokens.length > maxPositions) {
    fail(
      `${tokens.length} tokens are more than the model's ${maxPositions} positions; shorten the row.`,
      'sequence-too-long',
    );
  }
  const allowed = ['targetTokens', ...LOSS_VECTORS[loss]];
  for (const name of Object.keys(lossInputs)) {
    if (!allowed.includes(name))
      fail(`loss ${loss} does not take the input "${name}", only ${allowed.join(', ')}.`, 'unknown-loss-input');
  }
  for (const name of ['targetTokens', ...LOSS_VECTORS[loss]] as const) {
    const values = lossInputs[name];
    if (!values) return fail(`loss ${loss} needs the input "${name}", which is missing.`, 'missing-loss-input');
    if (values.length !== tokens.length) {
      fail(
        `"${name}" has ${values.length} entries for ${tokens.length} tokens; they must be aligned.`,
        'loss-input-length',
      );
    }
    if (!values.every(Number.isFinite))
      fail(`"${name}" has an entry that is not a finite number.`, 'loss-input-not-finite');
  }
  for (const token of [...tokens, ...lossInputs.targetTokens]) {
    if (!(Number.isInteger(token) && token >= 0 && token < vocabSize)) {
      fail(`token id ${token} is outside the vocabulary of ${vocabSize}.`, 'token-out-of-range');
    }
  }
}

/** Additive causal mask for `folds` query heads stacked along time: [folds * time, time]. */
export function causalMask(time: number, folds: number): Float32Array {
  const mask = new Float32Array(folds * time * time);
  for (let row = 0; row < folds * time; row++) mask.fill(MASKED, row * time + (row % time) + 1, (row + 1) * time);
  return mask;
}

/** `causalMask` of layers that see a token and the `window` - 1 before it. */
export function slidingMask(time: number, folds: number, window: number): Float32Array {
  const mask = causalMask(time, folds);
  for (let row = 0; row < folds * time; row++) {
    const first = (row % time) - window + 1;
    if (first > 0) mask.fill(MASKED, row * time, row * time + first);
  }
  return mask;
}

/** The masks that the graphs of a model over whole sequences read. */
export function maskFeeds({ heads, kvHeads, sliding }: ModelConfig, time: number): Feeds {
  const folds = heads / kvHeads;
  const shape = [folds * time, time];
  const mask = { data: causalMask(time, folds), shape };
  return sliding ? { mask, 'mask.sliding': { data: slidingMask(time, folds, sliding.window), shape } } : { mask };
}

/** Far below any score, yet finite: a row that is masked whole must not become NaN. */
export const MASKED = -1e9;
