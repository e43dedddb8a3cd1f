// Samples of one immutable snapshot. Requests may overlap without order; what bounds them are bytes under way, a number
// of them, and the pauses that a busy server asks for.

import { randomInt } from 'node:crypto';
import {
  decodeSampleResponse,
  joinSamplingSessionReplySchema,
  promiseSchema,
  sampleRequestToJson,
  sampleResponseFromJson,
  type ModelInput,
  type Tensor,
  type WirePromise,
  type WireSampleRequest,
  type WireSampleResponse,
  type WireSamplingParams,
} from '../wire/index.ts';
import { abortable, createSemaphore, sleep, type Semaphore } from '../../util/index.ts';
import { inputBytes } from './chunking.ts';
import { clientError, isTinkerError } from './client-error.ts';
import { Completions } from './completions.ts';
import { RestClient } from './rest-client.ts';
import type { Shared } from './shared.ts';

export type SampleCall = {
  readonly prompt: ModelInput;
  readonly numSamples: number;
  readonly params: Partial<WireSamplingParams>;
  readonly promptLogprobs?: boolean;
  readonly promptLogprobsLastN?: number;
  readonly topkPromptLogprobs?: number;
  readonly topkSampleLogprobs?: number;
  readonly targetPromptLogprobs?: Tensor;
  readonly promptAltTokensK?: number;
  readonly recordStabilityInfo?: boolean;
};

export type SampleResult = WireSampleResponse & {
  /** One a sample, where the server names them. */
  readonly sequenceIds: readonly string[] | undefined;
};

type Signal = { readonly signal?: AbortSignal | undefined };

/** Tinker's estimate of a prompt's size on the wire, as JSON. */
const BYTES_PER_TOKEN = 10;
const LONG_PROMPT_BYTES = 128 * 1024;

/** Requests of a further client of a sampler are numbered from a multiple of this, so that no two are the same. */
const CLIENT_STRIDE = 1_000_000_000n;

type Numbers = { readonly client: number; next: bigint; readonly completions: Completions | undefined };

export class SamplingClient {
  readonly samplerId: string;
  readonly #shared: Shared;
  readonly #places: Semaphore;
  readonly #joins: boolean;
  #numbers: Promise<Numbers> | undefined;

  /** `joins`: the sampler has other clients already, perhaps in other processes. */
  constructor(shared: Shared, samplerId: string, { joins = false }: { readonly joins?: boolean } = {}) {
    const { sample_max_concurrent_requests: most, sample_use_retrieve_futures: together } = shared.config;
    this.#shared = shared;
    this.samplerId = samplerId;
    this.#joins = joins;
    // The limit is one of polls that are open at a time; of those that ask for many there is one.
    this.#places = createSemaphore(together ? Number.MAX_SAFE_INTEGER : (most ?? 2000));
  }

  /** What the sampler was made of. */
  info(signal?: AbortSignal): Promise<{ readonly baseModel: string; readonly modelPath: string | undefined }> {
    return new RestClient(this.#shared.caller).getSampler(this.samplerId, signal);
  }

  async sample(call: SampleCall, { signal }: Signal = {}): Promise<SampleResult> {
    const { sampleRetries, firstRetryMs } = this.#shared.caller.pacing;
    return this.#places.run(async () => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await this.#once(call, signal);
        } catch (error) {
          // A promise that the server has forgotten: the same is asked for anew, under a new number.
          if (!isTinkerError(error, 'tinker-promise-lost') || attempt >= sampleRetries) throw error;
          await sleep(Math.min(firstRetryMs * 2 ** (attempt - 1), 10_000), signal ?? new AbortController().signal);
        }
      }
    }, signal);
  }

  /** Log-probability of every token of a prompt given those before it; NaN at the first. */
  async computeLogprobs(prompt: ModelInput, options: Signal = {}): Promise<Float32Array> {
    const { promptLogprobs } = await this.sample(
      { prompt, numSamples: 1, params: { maxTokens: 1 }, promptLogprobs: true },
      options,
    );
    if (promptLogprobs !== undefined) return promptLogprobs;
    throw clientError('The Tinker server gave no log-probabilities of the prompt.', { code: 'tinker-protocol' });
  }

  /** Asked for when the first sample is; a failure is tried anew by the next. */
  async #numbered(signal: AbortSignal | undefined): Promise<Numbers> {
    const begin = async (): Promise<Numbers> => {
      const client = this.#joins ? await this.#join() : 0;
      const { caller, config } = this.#shared;
      const completions = config.sample_use_retrieve_futures
        ? new Completions({ caller, samplerId: this.samplerId, client })
        : undefined;
      return { client, next: BigInt(client) * CLIENT_STRIDE, completions };
    };
    if (this.#numbers === undefined) {
      this.#numbers = begin();
      this.#numbers.catch(() => (this.#numbers = undefined));
    }
    return signal === undefined ? this.#numbers : abortable(this.#numbers, signal);
  }

  /** Which client of the sampler this is: as the server says, or by lot where servers leave it to clients. */
  async #join(): Promise<number> {
    const { caller, config } = this.#shared;
    if (!config.sample_join_sampling_session) return 1 + randomInt(999_999_999);
    const path = 'join_sampling_session';
    const body = { sampling_session_id: this.samplerId, type: path };
    return (await caller.json(joinSamplingSessionReplySchema, { path, body })).client_counter;
  }

  async #once(call: SampleCall, signal: AbortSignal | undefined): Promise<SampleResult> {
    const numbers = await this.#numbered(signal);
    const { completions } = numbers;
    const request: WireSampleRequest = {
      prompt: call.prompt,
      numSamples: call.numSamples,
      params: { temperature: 1, topK: -1, topP: 1, ...call.params },
      samplingSessionId: this.samplerId,
      seqId: numbers.next++,
      promptLogprobs: call.promptLogprobs ?? false,
      topkPromptLogprobs: call.topkPromptLogprobs ?? 0,
      topkSampleLogprobs: call.topkSampleLogprobs ?? 0,
      promptAltTokensK: call.promptAltTokensK ?? 0,
      recordStabilityInfo: call.recordStabilityInfo ?? false,
      ...(call.promptLogprobsLastN === undefined ? {} : { promptLogprobsLastN: call.promptLogprobsLastN }),
      ...(call.targetPromptLogprobs === undefined ? {} : { targetPromptLogprobs: call.targetPromptLogprobs }),
    };
    const { futures, caller } = this.#shared;
    const number = completions?.begin() ?? 0;
    let promise: WirePromise | undefined;
    try {
      const started = performance.now();
      const { request_id: requestId, sample_sequence_ids } = (promise = await this.#submit(request, signal));
      const roundtripMs = performance.now() - started;
      const response = await futures.result(
        {
          requestId,
          requestType: 'Sample',
          roundtripMs,
          signal,
          ...(completions && { until: (inner: AbortSignal) => completions.wait(requestId, number, inner) }),
        },
        (result) =>
          'protobuf' in result
            ? decodeSampleResponse(result.protobuf, caller.limits)
            : sampleResponseFromJson(result.json, caller.limits),
      );
      completions?.fetched(requestId);
      return { ...checked(response, call), sequenceIds: sample_sequence_ids ?? undefined };
    } catch (error) {
      if (signal?.aborted === true && promise !== undefined) this.#cancel(promise);
      throw error;
    } finally {
      completions?.end(number);
    }
  }

  /** 429 pauses all sampling of this server; the request goes out again under the same number. */
  async #submit(request: WireSampleRequest, signal: AbortSignal | undefined): Promise<WirePromise> {
    const { caller, sampleBytes, samplingPause } = this.#shared;
    const bytes = inputBytes(request.prompt, BYTES_PER_TOKEN);
    const body = sampleRequestToJson(request);
    const release = await sampleBytes.take(bytes, signal);
    const started = performance.now();
    try {
      for (;;) {
        const pause = samplingPause.until - performance.now();
        if (pause > 0) {
          await sleep(pause, signal ?? new AbortController().signal);
          continue;
        }
        const reply = await caller.send({
          path: 'asample',
          body,
          headers: { 'x-tinker-sampling-backpressure': '1', 'x-tinker-request-type': 'Sample' },
          accepts: [429],
          signal,
        });
        if (reply.status !== 429) return caller.read(promiseSchema, reply, 'asample');
        const { backPressureMs, resultMs } = caller.pacing;
        if (performance.now() - started > resultMs) {
          throw clientError(`The Tinker server has had no room for a sample for ${resultMs / 1000} s.`, {
            code: 'tinker-unavailable',
            status: 429,
            retryable: true,
          });
        }
        const [short, long] = backPressureMs;
        samplingPause.until = performance.now() + (bytes <= LONG_PROMPT_BYTES ? short : long);
      }
    } finally {
      release();
    }
  }

  /** Tells the server that nobody waits any more; nobody waits for this either. */
  #cancel({ request_id }: WirePromise): void {
    const { caller, cancels } = this.#shared;
    if (!cancels) return;
    caller.transport
      .send({
        method: 'POST',
        path: 'cancel_future',
        body: { request_id },
        timeoutMs: caller.pacing.heartbeatMs,
      })
      .catch(() => undefined);
  }
}

/** The response in the documented form, or the reason why it is no answer to the request. */
function checked(response: WireSampleResponse, call: SampleCall): WireSampleResponse {
  const missing = (what: string): Error =>
    clientError(`The Tinker server left out ${what}; it may not offer that.`, { code: 'tinker-option-ignored' });
  if (response.sequences.length !== call.numSamples) {
    throw clientError(`The Tinker server gave ${response.sequences.length} samples for ${call.numSamples}.`, {
      code: 'tinker-protocol',
    });
  }
  if ((call.topkSampleLogprobs ?? 0) > 0 && response.sequences.some(({ topk }) => topk === undefined)) {
    throw missing('the top tokens of the samples');
  }
  if ((call.topkPromptLogprobs ?? 0) > 0 && response.topkPromptLogprobs === undefined) {
    throw missing('the top tokens of the prompt');
  }
  if (call.targetPromptLogprobs !== undefined && response.targetPromptLogprobs === undefined) {
    throw missing('the log-probabilities of the given targets');
  }
  if ((call.promptAltTokensK ?? 0) > 0 && response.promptAltTokens === undefined) {
    throw missing('the alternative tokens of the prompt');
  }
  if (call.promptLogprobs !== true) return response;
  if (response.promptLogprobs === undefined) throw missing('the log-probabilities of the prompt');
  return { ...response, promptLogprobs: fullLength(response.promptLogprobs, call.prompt) };
}

/** SkyRL leaves out the first, which has none; everyone else says NaN. */
function fullLength(logprobs: Float32Array, prompt: ModelInput): Float32Array {
  const length = inputLength(prompt);
  if (length === undefined || logprobs.length === length) return logprobs;
  if (logprobs.length !== length - 1) {
    throw clientError(`The Tinker server gave ${logprobs.length} log-probabilities for a prompt of ${length}.`, {
      code: 'tinker-protocol',
    });
  }
  const full = new Float32Array(length).fill(NaN);
  full.set(logprobs, 1);
  return full;
}

/** Positions of an input; undefined where it holds something whose size only the server knows. */
function inputLength(input: ModelInput): number | undefined {
  let length = 0;
  for (const chunk of input) {
    const size = chunk.kind === 'text' ? chunk.tokens.length : chunk.kind === 'dmel' ? undefined : chunk.expectedTokens;
    if (size === undefined) return undefined;
    length += size;
  }
  return length;
}
