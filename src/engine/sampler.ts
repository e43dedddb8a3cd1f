// The embedded Sampler: requests are sampled together with those that are running when they come; what a request gets
// does not depend on its company. How the distributions are computed is a decoder's business.

import { TabwrightError } from '../core/index.ts';
import type {
  CallOptions,
  PromptScoreOptions,
  PromptScores,
  SampledSequence,
  SampleOptions,
  SampleRequest,
  SamplingParams,
  ScoringSampler,
} from '../core/index.ts';
import { CallQueue } from './call-queue.ts';
import { planScoring, type ScoringBatch } from './cohorts.ts';
import type { Decoder } from './decoder.ts';
import { checkScoring, choiceRows, readChoices } from './prompt-scores.ts';
import type { Sampling } from './sampled-rows.ts';
import { SamplingQueue } from './sampling-queue.ts';
import { weightFeeds, type Weights } from './weights.ts';
import { WholeDecoder, type SamplerRuntime } from './whole-decoder.ts';

export class EmbeddedSampler implements ScoringSampler {
  readonly version: number;
  readonly #decoder: Decoder;
  readonly #sampling: SamplingQueue;
  readonly #scoring = new CallQueue<readonly number[], ScoringBatch, readonly number[]>({
    plan: (sequences) => planScoring(sequences, this.#decoder.config.vocabSize),
    serve: (batch, calls) => this.#decoder.score(batch, calls),
  });
  readonly #onClose: (() => void) | undefined;
  #disposed = false;

  /** What is computed must not change afterwards. */
  constructor(decoder: Decoder, version: number, { onClose }: { readonly onClose?: () => void } = {}) {
    this.#decoder = decoder;
    this.#sampling = new SamplingQueue(decoder);
    this.#onClose = onClose;
    this.version = version;
  }

  /** Of weights that do not change afterwards. */
  static of(runtime: SamplerRuntime, weights: Weights, version: number): EmbeddedSampler {
    const feeds = Promise.resolve(weightFeeds(weights));
    return new EmbeddedSampler(new WholeDecoder(runtime, () => feeds), version);
  }

  async sample(
    request: SampleRequest,
    { signal, onPrompt, onToken, stopWhen }: SampleOptions = {},
  ): Promise<readonly SampledSequence[]> {
    signal?.throwIfAborted();
    this.#check(request);
    checkParams(request.params);
    if (!onPrompt && !onToken && !stopWhen) return this.#sampling.add(request, signal);
    // A listener that throws ends its own request alone.
    const failed = new AbortController();
    const guard =
      <A extends unknown[], R>(listener: (...values: A) => R, otherwise: R) =>
      (...values: A): R => {
        try {
          return listener(...values);
        } catch (error) {
          failed.abort(error);
          return otherwise;
        }
      };
    const job: Sampling = {
      ...request,
      ...(onPrompt ? { onPrompt: guard(onPrompt, undefined) } : {}),
      ...(onToken ? { onToken: guard(onToken, undefined) } : {}),
      ...(stopWhen ? { stopWhen: guard(stopWhen, true) } : {}),
    };
    return this.#sampling.add(job, signal ? AbortSignal.any([signal, failed.signal]) : failed.signal);
  }

  async computeLogprobs(tokens: readonly number[], { signal }: CallOptions = {}): Promise<readonly number[]> {
    signal?.throwIfAborted();
    this.#check({ prompt: tokens, numSamples: 1, params: { maxTokens: 0 } });
    return this.#scoring.add(tokens, signal);
  }

  async scorePrompt(tokens: readonly number[], options: PromptScoreOptions = {}): Promise<PromptScores> {
    const { topK = 0, targets, signal } = options;
    const logprobs = await this.computeLogprobs(tokens, { signal });
    if (topK === 0 && targets === undefined) return { logprobs };
    checkScoring(tokens, options, this.#decoder.config.vocabSize);
    const run = (
      first: number,
      choices: BigInt64Array,
      count: number,
    ): Promise<Readonly<Record<string, Float32Array>>> =>
      this.#decoder.choices(tokens, { first, count, choices, topK: Math.max(1, topK) });
    const scores = { logprobs, ...(await readChoices(choiceRows(tokens, options), run)) };
    signal?.throwIfAborted();
    return scores;
  }

  /** Waits for what is being computed; later calls are refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await this.#sampling.idle();
    await this.#scoring.idle();
    this.#onClose?.();
  }

  #check({ prompt, numSamples, params }: SampleRequest): void {
    if (this.#disposed)
      throw new TabwrightError('backend', 'This sampler is closed; take a new one from the trainer.', {
        code: 'sampler-closed',
      });
    const { vocabSize, maxPositions } = this.#decoder.config;
    const fail = (message: string, code: string): never => {
      throw new TabwrightError('backend', message, { code });
    };
    if (prompt.length === 0) fail('The prompt has no tokens; it needs at least one.', 'empty-prompt');
    const bad = prompt.find((token) => !(Number.isInteger(token) && token >= 0 && token < vocabSize));
    if (bad !== undefined) fail(`Token id ${bad} is outside the vocabulary of ${vocabSize}.`, 'token-out-of-range');
    if (prompt.length + params.maxTokens > maxPositions) {
      fail(
        `A prompt of ${prompt.length} tokens and ${params.maxTokens} new ones exceed the model's ${maxPositions} positions.`,
        'sequence-too-long',
      );
    }
    if (!(Number.isInteger(numSamples) && numSamples >= 1))
      fail(`numSamples must be a positive integer, not ${numSamples}.`, 'bad-sampling-params');
  }
}

/** Refuses settings that cannot be honoured, rather than ignoring them. */
function checkParams(params: SamplingParams): void {
  const { maxTokens, temperature = 1, topP = 1, topK = -1, seed = 0, topLogprobs = 0 } = params;
  const fail = (name: string, value: number, range: string): never => {
    throw new TabwrightError('backend', `Sampling parameter ${name} is ${value}; it must be ${range}.`, {
      code: 'bad-sampling-params',
      details: { name, value },
    });
  };
  if (!(Number.isInteger(maxTokens) && maxTokens >= 1)) fail('maxTokens', maxTokens, 'a positive integer');
  if (!(temperature >= 0 && Number.isFinite(temperature)))
    fail('temperature', temperature, 'zero or a positive number');
  if (!(topP > 0 && topP <= 1)) fail('topP', topP, 'above 0 and at most 1');
  if (!(topK === -1 || (Number.isInteger(topK) && topK >= 1))) fail('topK', topK, 'a positive integer, or -1 for off');
  if (!(Number.isInteger(topLogprobs) && topLogprobs >= 0))
    fail('topLogprobs', topLogprobs, 'a whole number, 0 for none');
  if (!Number.isSafeInteger(seed)) fail('seed', seed, 'a safe integer');
}
