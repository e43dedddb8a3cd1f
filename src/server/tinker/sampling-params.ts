// A request for samples as clients send it, made into one of the sampler's. What cannot be honoured is refused by name:
// a client would never learn that an option was ignored.

import type { SamplingParams, Tokenizer } from '../../core/index.ts';
import type { Tensor, WireSampleRequest } from '../../tinker/index.ts';
import { tokensOf } from './datums.ts';
import { userFault } from './refusals.ts';
import type { ServedModel } from './served-model.ts';

export type ReadSample = {
  readonly prompt: readonly number[];
  readonly numSamples: number;
  readonly params: SamplingParams;
  /** Ends a sample when true of its tokens so far. */
  readonly stopWhen?: (tokens: readonly number[]) => boolean;
  /** What is asked about the prompt. */
  readonly score?: {
    readonly logprobs: boolean;
    /** Only of the last N positions. */
    readonly lastN?: number;
    readonly topK: number;
    readonly targets?: readonly number[];
  };
};

/** The engine takes seeds up to 2^53 and adds to them. */
const SEED_BITS = 48;
const MAX_SAMPLES = 1024;
/** Numbers that one request may ask for beside its samples: a small body can ask for far more than memory holds. */
const MAX_SCORES = 4_000_000;

/** A client's seed as the engine takes it. */
export function engineSeed(seed: bigint): number {
  return Number(BigInt.asUintN(SEED_BITS, seed));
}

export function readSample(request: WireSampleRequest, { backend, endTokens, tokenizer }: ServedModel): ReadSample {
  if (request.promptAltTokensK > 0) throw userFault('prompt_alt_tokens_k is not supported; leave it at 0.');
  if (request.recordStabilityInfo) {
    throw userFault(
      'record_stability_info is not supported, as the loss stable_reinforce is not: leave it false and train with importance_sampling, ppo, cispo, dro or gspo.',
    );
  }
  const { vocabSize, contextLength } = backend;
  const prompt = tokensOf(request.prompt, 'prompt', backend);
  const { numSamples } = request;
  if (!(Number.isInteger(numSamples) && numSamples >= 1 && numSamples <= MAX_SAMPLES)) {
    throw userFault(`num_samples is ${numSamples}; it must be a whole number from 1 to ${MAX_SAMPLES}.`);
  }
  const { maxTokens, seed, stop, temperature, topK, topP } = request.params;
  const room = contextLength - prompt.length;
  const wanted = maxTokens ?? room;
  if (wanted < 1 || wanted > room) {
    throw userFault(
      wanted < 1 && maxTokens !== undefined
        ? `sampling_params.max_tokens is ${wanted}; at least 1 is needed.`
        : `Prompt length plus max_tokens exceeds the model's context window: ${prompt.length} + ${Math.max(1, wanted)} > ${contextLength}.`,
    );
  }
  if (!(temperature >= 0 && Number.isFinite(temperature))) {
    throw userFault(`sampling_params.temperature is ${temperature}; it must be zero or above.`);
  }
  if (!(topP > 0 && topP <= 1)) throw userFault(`sampling_params.top_p is ${topP}; it must be above 0, at most 1.`);
  if (!(topK === -1 || topK >= 1)) throw userFault(`sampling_params.top_k is ${topK}; it must be -1 or at least 1.`);
  checkScores(request, { length: prompt.length, sampled: numSamples * wanted, vocabSize });
  const score = readScore(request, prompt.length, vocabSize);
  const stops = readStop(stop, endTokens, tokenizer);
  return {
    prompt,
    numSamples,
    params: {
      maxTokens: wanted,
      temperature,
      topK,
      topP,
      stop: stops.tokens,
      ...(seed === undefined ? {} : { seed: engineSeed(seed) }),
      ...(request.topkSampleLogprobs > 0 ? { topLogprobs: request.topkSampleLogprobs } : {}),
    },
    ...(stops.when === undefined ? {} : { stopWhen: stops.when }),
    ...(score === undefined ? {} : { score }),
  };
}

type ScoreBounds = { readonly length: number; readonly sampled: number; readonly vocabSize: number };

function checkScores(request: WireSampleRequest, { length, sampled, vocabSize }: ScoreBounds): void {
  const targets = request.targetPromptLogprobs?.shape;
  const asked = [
    ['topk_prompt_logprobs', request.topkPromptLogprobs, length],
    ['topk_sample_logprobs', request.topkSampleLogprobs, sampled],
  ] as const;
  for (const [name, k, positions] of asked) {
    if (!(Number.isInteger(k) && k >= 0 && k <= vocabSize)) {
      throw userFault(`${name} is ${k}; it must be from 0 to the vocabulary's ${vocabSize}.`);
    }
    checkCount(name, k * positions);
  }
  checkCount('target_prompt_logprobs', targets?.reduce((product, size) => product * size, 1) ?? 0);
  const lastN = request.promptLogprobsLastN;
  if (lastN !== undefined && !(Number.isInteger(lastN) && lastN >= 0)) {
    throw userFault(`prompt_logprobs_last_n is ${lastN}; it must be a whole number from 0.`);
  }
}

function checkCount(name: string, count: number): void {
  if (count > MAX_SCORES) {
    throw userFault(`${name} asks for ${count} log-probabilities; at most ${MAX_SCORES} a request are given.`);
  }
}

function readScore(request: WireSampleRequest, length: number, vocabSize: number): ReadSample['score'] {
  const { promptLogprobs, promptLogprobsLastN, topkPromptLogprobs, targetPromptLogprobs } = request;
  if (!promptLogprobs && topkPromptLogprobs === 0 && targetPromptLogprobs === undefined) return undefined;
  let targets: readonly number[] | undefined;
  if (targetPromptLogprobs !== undefined) {
    const { shape } = targetPromptLogprobs;
    if (shape.length !== 2 || shape[0] !== length - 1) {
      throw userFault(
        `target_prompt_logprobs has shape [${shape.join(', ')}]; for a prompt of ${length} tokens [${length - 1}, K] is expected.`,
      );
    }
    const values = targetValues(targetPromptLogprobs);
    const bad = values.find((token) => !(Number.isInteger(token) && token >= -1 && token < vocabSize));
    if (bad !== undefined) throw userFault(`target_prompt_logprobs: ${bad} is no token of the vocabulary, nor -1.`);
    targets = values;
  }
  return {
    logprobs: promptLogprobs,
    ...(promptLogprobsLastN === undefined ? {} : { lastN: promptLogprobsLastN }),
    topK: topkPromptLogprobs,
    ...(targets === undefined ? {} : { targets }),
  };
}

/** Row after row; what a sparse tensor leaves out is nothing, and 0 is a token like any other. */
function targetValues({ shape, values, sparse }: Tensor): number[] {
  if (sparse === undefined) return Array.from(values);
  const [rows, width] = shape;
  const out = new Array<number>(rows * width).fill(-1);
  for (let row = 0; row < rows; row++) {
    for (let i = sparse.rowStarts[row]; i < sparse.rowStarts[row + 1]; i++) {
      out[row * width + sparse.columns[i]] = values[i];
    }
  }
  return out;
}

/** Log-probabilities of targets in the layout that they were asked in. */
export function targetAnswer(asked: Tensor, dense: readonly number[]): Tensor {
  const { shape, sparse } = asked;
  if (sparse === undefined) return { dtype: 'float32', shape, values: Float32Array.from(dense) };
  const values = new Float32Array(asked.values.length);
  for (let row = 0; row < shape[0]; row++) {
    for (let i = sparse.rowStarts[row]; i < sparse.rowStarts[row + 1]; i++) {
      values[i] = dense[row * shape[1] + sparse.columns[i]];
    }
  }
  return { dtype: 'float32', shape, values, sparse };
}

type Stops = { readonly tokens: readonly number[]; readonly when?: ReadSample['stopWhen'] };

/** A list of ids is all that stops, even an empty one; texts say nothing of ids, so the model's own end stays. */
function readStop(
  stop: WireSampleRequest['params']['stop'],
  endTokens: readonly number[],
  tokenizer: Tokenizer | undefined,
): Stops {
  if (stop === undefined) return { tokens: endTokens };
  if ('tokens' in stop) return { tokens: stop.tokens };
  if (stop.texts.length === 0) return { tokens: [] };
  if (tokenizer === undefined) {
    throw userFault('sampling_params.stop holds texts, and this model has no tokenizer here; give token ids.');
  }
  return { tokens: endTokens, when: stopsAt(stop.texts, tokenizer) };
}

/** Ends a sample when true of its tokens, and tells its texts to whoever must make it anew elsewhere. */
export type TextStop = ((tokens: readonly number[]) => boolean) & { readonly texts: readonly string[] };

/** True of tokens whose text holds one of the texts, which the newest token completes. */
export function stopsAt(texts: readonly string[], tokenizer: Tokenizer): TextStop {
  if (texts.some((text) => text === '')) throw userFault('sampling_params.stop holds an empty text.');
  // A token is at least a byte, so that a text lies within as many tokens as it has bytes; characters that begin before
  // it may need a few more to be read.
  const reach = Math.max(...texts.map((text) => new TextEncoder().encode(text).length)) + 4;
  const stop = (tokens: readonly number[]): boolean => {
    const text = tokenizer.decode(tokens.slice(-reach));
    return texts.some((wanted) => text.includes(wanted));
  };
  return Object.assign(stop, { texts });
}

/** The texts of a `TextStop`. Any other function cannot be told to another process. */
export function stopTextsOf(stop: (tokens: readonly number[]) => boolean): readonly string[] {
  if ('texts' in stop) return (stop as TextStop).texts;
  throw userFault('A function that ends samples cannot cross processes; give texts.');
}
