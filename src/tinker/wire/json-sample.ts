// Requests for samples as JSON, which is the only form they have, and results as JSON, which SDKs up to 0.24 read.

import {
  asBigint,
  asBoolean,
  asFloat32s,
  asInt32,
  asInt32s,
  asList,
  asMap,
  asNumber,
  asText,
  optional,
  present,
  type JsonMap,
} from './json-read.ts';
import { inputFromJson, inputToJson, tensorFromJson, tensorToJson } from './json-data.ts';
import type { WireJson } from './json-text.ts';
import { DEFAULT_LIMITS, type DecodeLimits } from './limits.ts';
import type { TopkTable, WireSampleRequest, WireSampleResponse, WireSamplingParams, WireSequence } from './model.ts';
import { topkRows, topkTable, type TopkRow } from './tensors.ts';
import { malformed, unsendable } from './wire-error.ts';

export function sampleRequestToJson(request: WireSampleRequest): JsonMap {
  const { params, targetPromptLogprobs: targets } = request;
  const { stop } = params;
  return present({
    num_samples: request.numSamples,
    prompt: inputToJson(request.prompt),
    sampling_params: present({
      max_tokens: params.maxTokens,
      seed: params.seed,
      stop: stop && ('texts' in stop ? stop.texts : stop.tokens),
      temperature: params.temperature,
      top_k: params.topK,
      top_p: params.topP,
    }),
    base_model: request.baseModel,
    model_path: request.modelPath,
    sampling_session_id: request.samplingSessionId,
    seq_id: request.seqId,
    prompt_logprobs: request.promptLogprobs,
    prompt_logprobs_last_n: request.promptLogprobsLastN,
    topk_prompt_logprobs: request.topkPromptLogprobs,
    topk_sample_logprobs: request.topkSampleLogprobs,
    target_prompt_logprobs: targets && tensorToJson(targets, 'target_prompt_logprobs'),
    prompt_alt_tokens_k: request.promptAltTokensK,
    record_stability_info: request.recordStabilityInfo,
    type: 'sample',
  });
}

export function sampleRequestFromJson(value: WireJson, limits: DecodeLimits = DEFAULT_LIMITS): WireSampleRequest {
  const map = asMap(value, 'request');
  const at = <T>(name: string, read: (value: WireJson, where: string) => T): T | undefined =>
    optional(map[name], name, read);
  return {
    prompt: inputFromJson(map['prompt'], 'prompt'),
    numSamples: at('num_samples', asInt32) ?? 1,
    params: samplingParamsFromJson(map['sampling_params'] ?? {}),
    promptLogprobs: at('prompt_logprobs', asBoolean) ?? false,
    topkPromptLogprobs: at('topk_prompt_logprobs', asInt32) ?? 0,
    topkSampleLogprobs: at('topk_sample_logprobs', asInt32) ?? 0,
    promptAltTokensK: at('prompt_alt_tokens_k', asInt32) ?? 0,
    recordStabilityInfo: at('record_stability_info', asBoolean) ?? false,
    ...present({
      baseModel: at('base_model', asText),
      modelPath: at('model_path', asText),
      samplingSessionId: at('sampling_session_id', asText),
      seqId: at('seq_id', asBigint),
      promptLogprobsLastN: at('prompt_logprobs_last_n', asInt32),
      targetPromptLogprobs: at('target_prompt_logprobs', (targets, where) => tensorFromJson(targets, where, limits)),
    }),
  };
}

function samplingParamsFromJson(value: WireJson): WireSamplingParams {
  const map = asMap(value, 'sampling_params');
  const at = <T>(name: string, read: (value: WireJson, where: string) => T): T | undefined =>
    optional(map[name], `sampling_params.${name}`, read);
  return {
    temperature: at('temperature', asNumber) ?? 1,
    topK: at('top_k', asInt32) ?? -1,
    topP: at('top_p', asNumber) ?? 1,
    ...present({ maxTokens: at('max_tokens', asInt32), seed: at('seed', asBigint), stop: at('stop', stopFromJson) }),
  };
}

function stopFromJson(value: WireJson, where: string): NonNullable<WireSamplingParams['stop']> {
  if (typeof value === 'string') return { texts: [value] };
  const list = asList(value, where);
  if (list.every((item) => typeof item === 'string')) return { texts: list };
  return { tokens: Array.from(asInt32s(value, where)) };
}

/** In the form of SDK 0.24, with the newer fields under the names that the newer SDK's types have. */
export function sampleResponseToJson(response: WireSampleResponse): JsonMap {
  const { promptLogprobs, topkPromptLogprobs, targetPromptLogprobs, promptAltTokens } = response;
  return present({
    type: 'sample',
    sequences: response.sequences.map(sequenceToJson),
    // NaN means that there is none, which JSON says as null.
    prompt_logprobs: promptLogprobs && logprobsToJson(promptLogprobs, 'prompt_logprobs'),
    topk_prompt_logprobs: topkPromptLogprobs && topkToJson(topkPromptLogprobs),
    prompt_cache_hit_tokens: response.promptCacheHitTokens,
    target_prompt_logprobs: targetPromptLogprobs && tensorToJson(targetPromptLogprobs, 'target_prompt_logprobs'),
    prompt_alt_tokens: promptAltTokens && {
      tokens: tensorToJson(promptAltTokens.tokens, 'prompt_alt_tokens.tokens'),
      logprobs: tensorToJson(promptAltTokens.logprobs, 'prompt_alt_tokens.logprobs'),
    },
  });
}

export function sampleResponseFromJson(value: WireJson, limits: DecodeLimits = DEFAULT_LIMITS): WireSampleResponse {
  const map = asMap(value, 'result');
  const sequences = asList(map['sequences'], 'sequences');
  return {
    sequences: sequences.map((sequence, i) => sequenceFromJson(sequence, `sequences[${i}]`, limits)),
    promptCacheHitTokens: optional(map['prompt_cache_hit_tokens'], 'prompt_cache_hit_tokens', asInt32) ?? 0,
    ...present({
      promptLogprobs: optional(map['prompt_logprobs'], 'prompt_logprobs', asFloat32s),
      topkPromptLogprobs: optional(map['topk_prompt_logprobs'], 'topk_prompt_logprobs', (table, at) =>
        topkFromJson(table, at, limits),
      ),
      targetPromptLogprobs: optional(map['target_prompt_logprobs'], 'target_prompt_logprobs', (tensor, at) =>
        tensorFromJson(tensor, at, limits),
      ),
      promptAltTokens: optional(map['prompt_alt_tokens'], 'prompt_alt_tokens', (pair, at) => ({
        tokens: tensorFromJson(asMap(pair, at)['tokens'] ?? null, `${at}.tokens`, limits),
        logprobs: tensorFromJson(asMap(pair, at)['logprobs'] ?? null, `${at}.logprobs`, limits),
      })),
    }),
  };
}

function sequenceToJson({ stopReason, tokens, logprobs, topk }: WireSequence, i: number): JsonMap {
  return present({
    stop_reason: stopReason,
    tokens: Array.from(tokens),
    logprobs: logprobs && logprobsToJson(logprobs, `sequences[${i}].logprobs`),
    topk_sampled_logprobs: topk && topkToJson(topk),
  });
}

function sequenceFromJson(value: WireJson, where: string, limits: DecodeLimits): WireSequence {
  const map = asMap(value, where);
  const stopReason = asText(map['stop_reason'], `${where}.stop_reason`);
  if (stopReason !== 'stop' && stopReason !== 'length') throw malformed(where, `stop_reason "${stopReason}"`);
  return {
    stopReason,
    tokens: asInt32s(map['tokens'], `${where}.tokens`),
    ...present({
      logprobs: optional(map['logprobs'], `${where}.logprobs`, asFloat32s),
      topk: optional(map['topk_sampled_logprobs'], `${where}.topk_sampled_logprobs`, (table, at) =>
        topkFromJson(table, at, limits),
      ),
    }),
  };
}

function logprobsToJson(logprobs: Float32Array, where: string): (number | null)[] {
  return Array.from(logprobs, (value, i) => {
    if (Number.isFinite(value)) return value;
    if (Number.isNaN(value)) return null;
    throw unsendable(`${where}[${i}]`, `${value} is no JSON number`);
  });
}

/** Rows of [token, logprob]; a row without any is null. */
function topkToJson(table: TopkTable): WireJson {
  return topkRows(table).map((row) => (row.length === 0 ? null : row.map(({ token, logprob }) => [token, logprob])));
}

function topkFromJson(value: WireJson, where: string, limits: DecodeLimits): TopkTable {
  const rows = asList(value, where).map((row, i): TopkRow => {
    if (row === null) return [];
    return asList(row, `${where}[${i}]`).map((cell) => {
      const [token, logprob] = asList(cell, `${where}[${i}]`);
      return { token: asInt32(token, `${where}[${i}]`), logprob: asNumber(logprob, `${where}[${i}]`) };
    });
  });
  const k = Math.max(0, ...rows.map((row) => row.length));
  if (rows.length * k > limits.maxElements) throw malformed(where, `${rows.length} rows of up to ${k} are too many`);
  return topkTable(rows, k);
}
