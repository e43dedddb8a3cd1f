// How much of a prompt a server says that it had: told as samplers of this process tell it.

import { expect, it } from 'vitest';
import { encodeSampleResponse, TinkerSampler } from '../../src/tinker/index.ts';
import { scripted } from './scripted-server.ts';

it('is told to whoever asks for it', async () => {
  const sequences = [{ stopReason: 'length', tokens: Int32Array.of(5), logprobs: Float32Array.of(-1) }] as const;
  await using server = await scripted({
    asample: () => ({ json: { request_id: 'r' } }),
    retrieve_future: () => ({ protobuf: encodeSampleResponse({ sequences, promptCacheHitTokens: 64 }) }),
  });
  const client = await (await server.connect()).createSamplingClient({ baseModel: 'm' });
  await using sampler = new TinkerSampler(client, 0);
  const told: number[] = [];
  const request = { prompt: [1, 2, 3], numSamples: 1, params: { maxTokens: 1 } };
  await sampler.sample(request, { onPrompt: (reused) => told.push(reused) });
  expect(told).toEqual([64]);
});
