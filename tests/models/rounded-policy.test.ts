// A pretrained model opened for an evaluation with rounded weights: it decodes with them, near what the whole ones say but
// not the same.

import { expect, it } from 'vitest';
import { openPolicyModel } from '../../src/cli/policy-model.ts';
import { hasSmolLm2, SMOLLM2_GGUF } from '../../conformance/models/places.ts';

const PROMPT = [1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198];

it.skipIf(!hasSmolLm2)('decodes with them', { timeout: 1_800_000 }, async () => {
  const sampled = async (decodeWeights: 'f32' | 'q4') => {
    const options = { decodeWeights, settings: { contextLength: 256, maxActionTokens: 16 } };
    const signal = AbortSignal.timeout(1_700_000);
    await using model = await openPolicyModel(`gguf:${SMOLLM2_GGUF}`, {
      ...options,
      signal,
      onNotice: () => undefined,
    });
    await using sampler = await model.openSampler();
    const params = { maxTokens: 8, temperature: 0, seed: 1 };
    return (await sampler.sample({ prompt: PROMPT, numSamples: 1, params }))[0];
  };
  const [whole, rounded] = [await sampled('f32'), await sampled('q4')];
  // The first token comes from the prompt, which is read with whole weights; the next ones do not.
  expect(rounded.tokens[0]).toBe(whole.tokens[0]);
  expect(rounded.logprobs[0]).toBe(whole.logprobs[0]);
  expect(rounded.logprobs[1]).not.toBe(whole.logprobs[1]);
  expect(Math.abs(rounded.logprobs[1] - whole.logprobs[1])).toBeLessThan(0.5);
});
