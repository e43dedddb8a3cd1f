// A snapshot of a trainer's weights for the length of one piece of work. Acquires and releases; decides nothing.

import type { Sampler, Trainer } from '../core/index.ts';
import { DEFAULT_CALL_MS, trainerWithDeadlines } from './call-deadlines.ts';

/** Does `work` with a sampler of the weights as they are now, and frees them as soon as it is over. */
export async function withSampler<T>(
  trainer: Trainer,
  signal: AbortSignal,
  work: (sampler: Sampler) => Promise<T>,
): Promise<T> {
  const limited = trainerWithDeadlines(trainer, { stage: 'a snapshot', ms: DEFAULT_CALL_MS });
  const sampler = await limited.saveWeightsAndGetSampler({ signal });
  try {
    return await work(sampler);
  } finally {
    await sampler[Symbol.asyncDispose]();
  }
}
