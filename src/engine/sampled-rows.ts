// Sequences while they are being sampled: what a request asks for, what has been drawn so far, and when one ends. Knows
// nothing of how the next distribution is computed.

import { randomInt } from 'node:crypto';
import type { SampledSequence, SampleOptions, SampleRequest, TopToken } from '../core/index.ts';
import { createRng, type Rng } from '../util/index.ts';
import type { Call } from './call-queue.ts';

/** A request with what is to happen meanwhile. */
export type Sampling = SampleRequest & Pick<SampleOptions, 'onToken' | 'stopWhen'>;
export type Job = Call<Sampling>;

/** One sequence being sampled. */
export type Row = {
  readonly job: Job;
  /** Which sample of its request. */
  readonly sample: number;
  /** Position of its prompt within the cohort. */
  readonly prompt: number;
  readonly rng: Rng;
  readonly tokens: number[];
  readonly logprobs: number[];
  readonly top: (readonly TopToken[])[];
  stop: 'stop' | 'length' | undefined;
  /** How many of the tokens count, once it has stopped. */
  length: number;
};

/** What was drawn for a row, and on demand what else was likely. */
export type Draw = {
  readonly token: number;
  readonly logprob: number;
  readonly likeliest: (count: number) => readonly TopToken[];
};

export function startRows(job: Job, prompt: number): Row[] {
  const seed = job.request.params.seed ?? randomInt(2 ** 47);
  return Array.from({ length: job.request.numSamples }, (_, i) => {
    return {
      job,
      sample: i,
      prompt,
      rng: createRng('sample', seed + i),
      tokens: [],
      logprobs: [],
      top: [],
      stop: undefined,
      length: 0,
    };
  });
}

/** A row that is computed beside `row` and belongs to nobody. */
export function fillerRow({ job, prompt }: Row): Row {
  const rng = createRng('filler');
  return { job, sample: -1, prompt, rng, tokens: [], logprobs: [], top: [], stop: 'length', length: 0 };
}

/** Appends one token to every row; rows that have already finished get a filler that nobody reads. */
export function extendRows(rows: readonly Row[], draw: (row: Row, line: number) => Draw): void {
  rows.forEach((row, i) => {
    const { params, onToken, stopWhen } = row.job.request;
    const { stop = [], maxTokens, topLogprobs = 0 } = params;
    const chosen = draw(row, i);
    row.tokens.push(chosen.token);
    row.logprobs.push(chosen.logprob);
    if (row.stop !== undefined) return;
    if (topLogprobs > 0) row.top.push(chosen.likeliest(topLogprobs));
    onToken?.(row.sample, chosen.token, chosen.logprob);
    if (stop.includes(chosen.token) || stopWhen?.(row.tokens)) row.stop = 'stop';
    else if (row.tokens.length >= maxTokens) row.stop = 'length';
    if (row.stop !== undefined) row.length = row.tokens.length;
  });
}

export function finished({ job, tokens, logprobs, top, length, stop }: Row): SampledSequence {
  const sequence = { tokens: tokens.slice(0, length), logprobs: logprobs.slice(0, length), stop: stop! };
  return (job.request.params.topLogprobs ?? 0) > 0 ? { ...sequence, topLogprobs: top } : sequence;
}
