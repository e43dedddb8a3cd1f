// Scores of a prompt beyond its own tokens: what else was likely at each place, and how likely given other tokens
// were. This file cuts the work into runs of bounded size and puts the answers together; the graph is elsewhere.

import { TabwrightError, type PromptScoreOptions, type PromptScores, type TopToken } from '../core/index.ts';

/** Positions a run: what is computed for each has the size of the vocabulary. */
const POSITIONS_PER_RUN = 128;

export type ChoiceRows = {
  /** Positions that are scored, all but the first of the prompt. */
  readonly positions: number;
  /** Choices a position; at least one, since a graph has no empty axis. */
  readonly width: number;
  /** [positions, width], -1 for none. */
  readonly choices: readonly number[];
  readonly topK: number;
  readonly wantsTargets: boolean;
};

/** Runs the graph for `count` positions from `first` on: `chosen`, `top.logprobs` and `top.tokens` of each. */
export type ChoiceRun = (
  first: number,
  choices: BigInt64Array,
  count: number,
) => Promise<Readonly<Record<string, Float32Array>>>;

/** Refuses what cannot be scored, rather than leaving it out. */
export function checkScoring(tokens: readonly number[], options: PromptScoreOptions, vocabSize: number): void {
  const { topK = 0, targets } = options;
  const fail = (message: string): never => {
    throw new TabwrightError('backend', message, { code: 'bad-scoring-params' });
  };
  if (!(Number.isInteger(topK) && topK >= 0 && topK <= vocabSize))
    fail(`topK is ${topK}; it must be a whole number from 0 to the vocabulary of ${vocabSize}.`);
  if (!targets) return;
  const positions = tokens.length - 1;
  if (positions === 0 ? targets.length > 0 : targets.length % positions !== 0)
    fail(`${targets.length} targets do not divide among the ${positions} positions of ${tokens.length} tokens.`);
  const bad = targets.find((target) => !(Number.isInteger(target) && target >= -1 && target < vocabSize));
  if (bad !== undefined) fail(`Target ${bad} is outside the vocabulary of ${vocabSize}; -1 is none.`);
}

export function choiceRows(tokens: readonly number[], { topK = 0, targets }: PromptScoreOptions): ChoiceRows {
  const positions = tokens.length - 1;
  const given = targets !== undefined && targets.length > 0;
  const width = given ? targets.length / positions : 1;
  return {
    positions,
    width,
    choices: given ? targets : new Array<number>(positions).fill(-1),
    topK,
    wantsTargets: given,
  };
}

export async function readChoices(rows: ChoiceRows, run: ChoiceRun): Promise<Omit<PromptScores, 'logprobs'>> {
  const { positions, width, choices, topK, wantsTargets } = rows;
  const targets: number[] = [];
  const top: (readonly TopToken[])[] = [[]];
  for (let first = 0; first < positions; first += POSITIONS_PER_RUN) {
    const count = Math.min(POSITIONS_PER_RUN, positions - first);
    const wanted = choices.slice(first * width, (first + count) * width);
    const outputs = await run(
      first,
      BigInt64Array.from(wanted, (token) => BigInt(Math.max(0, token))),
      count,
    );
    wanted.forEach((token, i) => targets.push(token < 0 ? 0 : outputs['chosen'][i]));
    const found = outputs['top.tokens'].length / count;
    for (let row = 0; row < count; row++)
      top.push(
        Array.from({ length: topK }, (_, k) => {
          return { token: outputs['top.tokens'][row * found + k], logprob: outputs['top.logprobs'][row * found + k] };
        }),
      );
  }
  return { ...(topK > 0 ? { topK: top } : {}), ...(wantsTargets ? { targets } : {}) };
}
