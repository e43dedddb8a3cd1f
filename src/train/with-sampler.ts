// A snapshot of a trainer's weights for the length of one piece of work. Acquires and releases; decides nothing.

import type { Sampler, Trainer } from '../core/index.ts';

/** Does `work` with a sampler of the weights as they are now, and frees them as soon as it is over. */
export async function withSampler<T>(
  trainer: Trainer,
  signal: AbortSignal,
  work: (sampler: Sampler) => Promise<T>,
): Promise<T> {
  const sampler = await trainer.saveWeightsAndGetSampler({ signal });
  try {
    return await work(sampler);
  } finally {
    await sampler[Symbol.asyncDispose]();
  }
}
