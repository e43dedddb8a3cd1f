// A sampling client as a sampler of this project: token ids in, tokens and log-probabilities out.

import {
  TabwrightError,
  type CallOptions,
  type PromptScoreOptions,
  type PromptScores,
  type SampledSequence,
  type SampleOptions,
  type SampleRequest,
  type ScoringSampler,
} from '../core/index.ts';
import type { SamplingClient } from './client/sampling-client.ts';
import { denseValues, intTensor, topkRows, type ModelInput } from './wire/index.ts';

export class TinkerSampler implements ScoringSampler {
  readonly version: number;
  readonly client: SamplingClient;
  #closed = false;

  constructor(client: SamplingClient, version: number) {
    this.client = client;
    this.version = version;
  }

  async sample(
    { prompt, numSamples, params }: SampleRequest,
    options: SampleOptions = {},
  ): Promise<readonly SampledSequence[]> {
    this.#check(options);
    const { maxTokens, temperature = 1, topP = 1, topK = -1, stop, seed, topLogprobs = 0 } = params;
    const { sequences, promptCacheHitTokens } = await this.client.sample(
      {
        prompt: textInput(prompt),
        numSamples,
        params: {
          maxTokens,
          temperature,
          topP,
          topK,
          // Nothing said would mean the model's own end tokens; here nothing means nothing.
          stop: { tokens: stop ?? [] },
          ...(seed === undefined ? {} : { seed: BigInt(seed) }),
        },
        topkSampleLogprobs: topLogprobs,
      },
      { signal: options.signal },
    );
    options.onPrompt?.(promptCacheHitTokens);
    return sequences.map(({ tokens, logprobs, stopReason, topk }) => {
      if (logprobs === undefined) {
        throw new TabwrightError('backend', 'The Tinker server gave a sample without log-probabilities.', {
          code: 'tinker-protocol',
        });
      }
      return {
        tokens: Array.from(tokens),
        logprobs: Array.from(logprobs),
        stop: stopReason,
        ...(topLogprobs > 0 && topk !== undefined ? { topLogprobs: topkRows(topk) } : {}),
      };
    });
  }

  async computeLogprobs(tokens: readonly number[], { signal }: CallOptions = {}): Promise<readonly number[]> {
    this.#check({});
    return Array.from(await this.client.computeLogprobs(textInput(tokens), { signal }));
  }

  async scorePrompt(tokens: readonly number[], options: PromptScoreOptions = {}): Promise<PromptScores> {
    this.#check({});
    const { topK = 0, targets, signal } = options;
    const rows = tokens.length - 1;
    const result = await this.client.sample(
      {
        prompt: textInput(tokens),
        numSamples: 1,
        params: { maxTokens: 1 },
        promptLogprobs: true,
        topkPromptLogprobs: topK,
        ...(targets === undefined ? {} : { targetPromptLogprobs: intTensor(targets, [rows, targets.length / rows]) }),
      },
      { signal },
    );
    return {
      logprobs: Array.from(result.promptLogprobs!),
      ...(topK > 0 ? { topK: topkRows(result.topkPromptLogprobs!) } : {}),
      ...(targets === undefined ? {} : { targets: Array.from(denseValues(result.targetPromptLogprobs!)) }),
    };
  }

  /** The server keeps snapshots as it sees fit; there is nothing to free here. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
  }

  #check({ onToken, stopWhen }: SampleOptions): void {
    if (this.#closed) throw new TabwrightError('backend', 'This sampler is closed.', { code: 'sampler-closed' });
    const option = onToken !== undefined ? 'onToken' : stopWhen !== undefined ? 'stopWhen' : undefined;
    if (option === undefined) return;
    throw new TabwrightError('backend', `A Tinker server gives whole samples, so ${option} cannot be had from it.`, {
      code: 'unsupported-sample-option',
      details: { option },
    });
  }
}

function textInput(tokens: readonly number[]): ModelInput {
  return [{ kind: 'text', tokens: Int32Array.from(tokens) }];
}
