// What a sampler stands on: something that computes distributions. How is `whole-decoder.ts` and `packed-decoder.ts`;
// which sequences are computed together is not its business.

import type { Call } from './call-queue.ts';
import type { ScoringBatch } from './cohorts.ts';
import type { ModelConfig } from './model-config.ts';
import type { RowCache, SequenceCache } from './row-cache.ts';
import type { Draw, Row } from './sampled-rows.ts';
import type { SharedPrompts } from './shared-prompts.ts';

/** Draws a row's next token from the distribution on a line of what was computed. */
export type Draws = (row: Row, line: number) => Draw;

export type ReadPrompt = {
  readonly cache: SequenceCache;
  /** Tokens that were not read, because an earlier prompt began alike. Default 0. */
  readonly reused?: number;
  /** Draws the first token after it. */
  readonly draw: (row: Row) => Draw;
};

/**
 * ONNX Runtime multiplies matrices of few rows with other kernels or cuts them otherwise, which rounds differently. At
 * least this many sequences go through the engine, so that a request's numbers do not depend on its company.
 */
export const MIN_SEQUENCES = 2;

/** What is computed for a prompt or a row does not depend on the others, to the bit. */
export interface Decoder {
  readonly config: ModelConfig;
  /** Keys and values of prompts are kept apart, and the cache of a row begins with what is sampled. Default false. */
  readonly sharesPrompts?: boolean;
  /** Nothing runs any more: weights that were held for it may go. */
  rest?(): void;
  read(prompts: readonly (readonly number[])[]): Promise<readonly ReadPrompt[]>;
  /**
   * Reads the newest token of each of at least `MIN_SEQUENCES` rows against those before it, and puts its key and value
   * into the cache, which has room for one place more than that. `prompts` are those of the rows, where they are shared.
   */
  step(rows: readonly Row[], cache: RowCache, prompts?: SharedPrompts): Promise<Draws>;
  /** Log-probabilities of each sequence's tokens, NaN first. Batches are as `cohorts.ts` plans them. */
  score(batch: ScoringBatch, calls: readonly Call<readonly number[]>[]): Promise<readonly (readonly number[])[]>;
  /** For `count` positions from `first` on: `chosen`, `top.logprobs` and `top.tokens`, as `choicesGraph` has them. */
  choices(
    tokens: readonly number[],
    wanted: {
      readonly first: number;
      readonly count: number;
      readonly choices: BigInt64Array;
      readonly topK: number;
    },
  ): Promise<Readonly<Record<string, Float32Array>>>;
}
