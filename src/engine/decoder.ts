// What a sampler stands on: something that computes distributions. How is `whole-decoder.ts` and `packed-decoder.ts`.

import type { SampledSequence, SampleRequest } from '../core/index.ts';
import type { Call } from './call-queue.ts';
import type { Cohort, ScoringBatch } from './cohorts.ts';
import type { ModelConfig } from './model-config.ts';
import type { Job } from './sampled-rows.ts';

/** Batches are as `cohorts.ts` plans them. */
export interface Decoder {
  readonly config: ModelConfig;
  /** Which requests are sampled together. Default those of equal padded length. */
  readonly plan?: (requests: readonly SampleRequest[]) => Cohort[];
  sample(cohort: Cohort, jobs: readonly Job[]): Promise<readonly (readonly SampledSequence[])[]>;
  /** Log-probabilities of each sequence's tokens, NaN first. */
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
