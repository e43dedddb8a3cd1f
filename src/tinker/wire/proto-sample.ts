// Results of sampling as protobuf, both ways. Requests for samples have no binary form.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import * as pb from './generated/tinker_public_pb.ts';
import { present } from './json-read.ts';
import { DEFAULT_LIMITS, type DecodeLimits } from './limits.ts';
import type { TopkTable, WireSampleResponse, WireSequence } from './model.ts';
import { float32Bytes, int32Bytes, readFloat32, readInt32 } from './numbers.ts';
import { tensorFromProto, tensorToProto } from './proto-data.ts';
import { asMalformed, scanProto } from './proto-scan.ts';
import { checkTopk } from './tensors.ts';
import { malformed } from './wire-error.ts';

export function encodeSampleResponse(response: WireSampleResponse): Uint8Array {
  const { promptLogprobs, topkPromptLogprobs, targetPromptLogprobs, promptAltTokens } = response;
  const message = create(pb.SampleResponseSchema, {
    sequences: response.sequences.map(encodeSequence),
    promptCacheHitTokens: response.promptCacheHitTokens,
    ...present({
      promptLogprobs: promptLogprobs && float32Bytes(promptLogprobs),
      topkPromptLogprobs: topkPromptLogprobs && encodeTopk(topkPromptLogprobs),
      targetPromptLogprobs: targetPromptLogprobs && tensorToProto(targetPromptLogprobs, 'target_prompt_logprobs'),
      promptAltTokens:
        promptAltTokens &&
        create(pb.PromptAltTokensSchema, {
          tokens: tensorToProto(promptAltTokens.tokens, 'prompt_alt_tokens.tokens'),
          logprobs: tensorToProto(promptAltTokens.logprobs, 'prompt_alt_tokens.logprobs'),
        }),
    }),
  });
  return toBinary(pb.SampleResponseSchema, message);
}

function encodeSequence({ stopReason, tokens, logprobs, topk }: WireSequence): pb.SampledSequence {
  return create(pb.SampledSequenceSchema, {
    stopReason: stopReason === 'stop' ? pb.StopReason.STOP : pb.StopReason.LENGTH,
    tokens: int32Bytes(tokens),
    ...present({
      logprobs: logprobs && float32Bytes(logprobs),
      topkSampledLogprobs: topk && encodeTopk(topk),
    }),
  });
}

function encodeTopk({ k, length, tokens, logprobs }: TopkTable): pb.TopkLogprobs {
  return create(pb.TopkLogprobsSchema, { k, length, tokenIds: int32Bytes(tokens), logprobs: float32Bytes(logprobs) });
}

export function decodeSampleResponse(bytes: Uint8Array, limits: DecodeLimits = DEFAULT_LIMITS): WireSampleResponse {
  scanProto(bytes, pb.SampleResponseSchema, limits);
  let message: pb.SampleResponse;
  try {
    message = fromBinary(pb.SampleResponseSchema, bytes);
  } catch (error) {
    throw asMalformed(error, pb.SampleResponseSchema);
  }
  const { promptLogprobs, topkPromptLogprobs, targetPromptLogprobs, promptAltTokens } = message;
  return {
    sequences: message.sequences.map((sequence, i) => decodeSequence(sequence, `sequences[${i}]`)),
    promptCacheHitTokens: message.promptCacheHitTokens,
    ...present({
      promptLogprobs: promptLogprobs && readFloat32(promptLogprobs, 'prompt_logprobs'),
      topkPromptLogprobs: topkPromptLogprobs && decodeTopk(topkPromptLogprobs, 'topk_prompt_logprobs'),
      targetPromptLogprobs:
        targetPromptLogprobs && tensorFromProto(targetPromptLogprobs, 'target_prompt_logprobs', limits),
      promptAltTokens: promptAltTokens && decodeAlternatives(promptAltTokens, limits),
    }),
  };
}

function decodeAlternatives(
  { tokens, logprobs }: pb.PromptAltTokens,
  limits: DecodeLimits,
): NonNullable<WireSampleResponse['promptAltTokens']> {
  if (tokens === undefined || logprobs === undefined)
    throw malformed('prompt_alt_tokens', 'one of its halves is missing');
  return {
    tokens: tensorFromProto(tokens, 'prompt_alt_tokens.tokens', limits),
    logprobs: tensorFromProto(logprobs, 'prompt_alt_tokens.logprobs', limits),
  };
}

function decodeSequence(sequence: pb.SampledSequence, where: string): WireSequence {
  const tokens = readInt32(sequence.tokens, `${where}.tokens`);
  const logprobs = sequence.logprobs && readFloat32(sequence.logprobs, `${where}.logprobs`);
  if (logprobs !== undefined && logprobs.length !== tokens.length && logprobs.length > 0) {
    throw malformed(where, `${logprobs.length} log-probabilities for ${tokens.length} tokens`);
  }
  return {
    stopReason: sequence.stopReason === pb.StopReason.STOP ? 'stop' : 'length',
    tokens,
    ...present({
      // Empty bytes cannot be told from none, and readers take them for none.
      logprobs: logprobs?.length === 0 ? undefined : logprobs,
      topk: sequence.topkSampledLogprobs && decodeTopk(sequence.topkSampledLogprobs, `${where}.topk`),
    }),
  };
}

function decodeTopk({ k, length, tokenIds, logprobs }: pb.TopkLogprobs, where: string): TopkTable {
  const table = { k, length, tokens: readInt32(tokenIds, where), logprobs: readFloat32(logprobs, where) };
  return checkTopk(table, where);
}
