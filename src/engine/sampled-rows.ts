// Sequences while they are being sampled: what a request asks for, what has been drawn so far, and when one ends. Knows
// nothing of how the next distribution is computed.

import { randomInt } from 'node:crypto';
import type { SampledSequence, SampleOptions, SampleRequest, TopToken } from '../core/index.ts';
import { createRng, type Rng } from '../util/index.ts';
import type { Call } from './call-queue.ts';

/** A request with what is to happen meanwhile. */
export type Sampling = SampleRequest & Pick<SampleOptions, 'onPrompt' | 'onToken' | 'stopWhen'>;
export type Job = Call<Sampling>;

/** One sequence being sampled. */
export type Row = {
  readonly job: Job;
  /** Which sample of its request. */
  readonly sample: number;
  readonly prompt: readonly number[];
  /** The same for equal prompts. */
  readonly key: string;
  readonly rng: Rng;
  readonly tokens: number[];
  readonly logprobs: number[];
  readonly top: (readonly TopToken[])[];
  stop: 'stop' | 'length' | undefined;
};

/** What was drawn for a row, and on demand what else was likely. */
export type Draw = {
  readonly token: number;
  readonly logprob: number;
  readonly likeliest: (count: number) => readonly TopToken[];
};

export function startRows(job: Job): Row[] {
  const { prompt, numSamples, params } = job.request;
  const seed = params.seed ?? randomInt(2 ** 47);
  const key = prompt.join();
  return Array.from({ length: numSamples }, (_, i) => {
    return {
      job,
      sample: i,
      prompt,
      key,
      rng: createRng('sample', seed + i),
      tokens: [],
      logprobs: [],
      top: [],
      stop: undefined,
    };
  });
}

/** Appends one token to every row that has not ended. */
export function extendRows(rows: readonly Row[], draw: (row: Row, line: number) => Draw): void {
  rows.forEach((row, i) => {
    if (row.stop !== undefined) return;
    const { params, onToken, stopWhen } = row.job.request;
    const { stop = [], maxTokens, topLogprobs = 0 } = params;
    const chosen = draw(row, i);
    row.tokens.push(chosen.token);
    row.logprobs.push(chosen.logprob);
    if (topLogprobs > 0) row.top.push(chosen.likeliest(topLogprobs));
    onToken?.(row.sample, chosen.token, chosen.logprob);
    if (stop.includes(chosen.token) || stopWhen?.(row.tokens)) row.stop = 'stop';
    else if (row.tokens.length >= maxTokens) row.stop = 'length';
  });
}

export function finished({ job, tokens, logprobs, top, stop }: Row): SampledSequence {
  const sequence = { tokens, logprobs, stop: stop! };
  return (job.request.params.topLogprobs ?? 0) > 0 ? { ...sequence, topLogprobs: top } : sequence;
}
