// A policy that samples tokens, as an actor: renders the conversation, draws, reads what was drawn.

import { TabwrightError, type Actor, type Policy, type SamplingParams, type TokenRecord } from '../core/index.ts';

export type TokenActorOptions = {
  readonly policy: Policy;
  /** How tokens are drawn; stop tokens and length come from the renderer, the seed with each turn. */
  readonly sampling: Pick<SamplingParams, 'temperature' | 'topP' | 'topK'>;
};

export function tokenActor({ policy: { sampler, renderer }, sampling }: TokenActorOptions): Actor<TokenRecord> {
  return {
    name: renderer.name,
    async act({ past, ...now }, { signal, seed }) {
      const earlier = past.map(({ observation, record }) => ({ observation, actionTokens: record.actionTokens }));
      const prompt = renderer.render({ ...now, past: earlier });
      const params = { ...sampling, maxTokens: renderer.maxActionTokens, stop: renderer.stopTokens, seed };
      const [sample] = await sampler.sample({ prompt, numSamples: 1, params }, { signal });
      if (sample === undefined) {
        throw new TabwrightError('backend', 'The sampler answered a request for 1 sample with none.', {
          code: 'no-sample',
        });
      }
      return {
        action: renderer.parse(sample.tokens, now.tools),
        record: {
          promptTokens: prompt,
          actionTokens: sample.tokens,
          logprobs: sample.logprobs,
          samplerVersion: sampler.version,
          stop: sample.stop,
        },
        usage: { promptTokens: prompt.length, completionTokens: sample.tokens.length },
      };
    },
  };
}
