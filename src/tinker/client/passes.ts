// Forward and backward passes as requests: rows cut into what a server takes at a time, in the codec that it reads, and
// their results joined again.

import {
  decodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
  forwardBackwardOutputFromJson,
  forwardBackwardRequestToJson,
  type ForwardBackwardOutput,
  type WireDatum,
} from '../wire/index.ts';
import { chunkRows, datumBytes, joinOutputs } from './chunking.ts';
import { clientError, isTinkerError } from './client-error.ts';
import type { FutureResult } from './futures.ts';
import type { Signal, Turn } from './model-turns.ts';
import type { Shared } from './shared.ts';

export type LossSettings = Readonly<Record<string, number | string>>;

export type Pass = {
  readonly modelId: string;
  readonly data: readonly WireDatum[];
  readonly lossFn: string;
  readonly config: LossSettings;
  readonly forwardOnly: boolean;
};

/** In order: a server that runs what comes as it comes is then right too. Gives the ids of the requests. */
export async function submitPass(shared: Shared, turn: Turn, pass: Pass): Promise<readonly string[]> {
  const { config: server, codec } = shared;
  const { modelId, data, lossFn, config, forwardOnly } = pass;
  const requestType = forwardOnly ? 'Forward' : 'ForwardBackward';
  const chunks = chunkRows(data, {
    maxRows: server.fwdbwd_max_chunk_len ?? 1024,
    maxBytes: server.fwdbwd_max_chunk_bytes_count ?? 5_000_000,
  });
  const ids: string[] = [];
  for (const chunk of chunks) {
    const bytes = chunk.reduce((sum, datum) => sum + datumBytes(datum), 0);
    const request = (seqId: number) => ({ modelId, seqId, data: chunk, lossFn, lossConfig: config, forwardOnly });
    if (codec.current === 'protobuf') {
      const body = (seqId: number): Uint8Array => encodeForwardBackwardRequest(request(seqId));
      try {
        ids.push(await turn.submit({ path: 'forward_backward', requestType, body, bytes }));
        continue;
      } catch (error) {
        // Unsupported media type: a server of the JSON generation, which has not looked at the number either.
        if (codec.fixed || !isTinkerError(error, 'tinker-refused') || error.details['status'] !== 415) throw error;
        codec.current = 'json';
        turn.takeBackNumber();
      }
    }
    const body = (seqId: number): object => forwardBackwardRequestToJson(request(seqId));
    ids.push(await turn.submit({ path: forwardOnly ? 'forward' : 'forward_backward', requestType, body, bytes }));
  }
  return ids;
}

/** The results of these requests as one. */
export async function passResult(
  { futures, caller: { limits } }: Shared,
  ids: readonly string[],
  { data, forwardOnly }: Pick<Pass, 'data' | 'forwardOnly'>,
  { signal }: Signal,
): Promise<ForwardBackwardOutput> {
  const requestType = forwardOnly ? 'Forward' : 'ForwardBackward';
  const read = (result: FutureResult): ForwardBackwardOutput =>
    'protobuf' in result
      ? decodeForwardBackwardOutput(result.protobuf, limits)
      : forwardBackwardOutputFromJson(result.json, limits);
  const joined = joinOutputs(
    await Promise.all(ids.map((requestId) => futures.result({ requestId, requestType, signal }, read))),
  );
  if (joined.outputs.length === data.length && joined.outputs.every((fields) => fields['logprobs'] !== undefined)) {
    return joined;
  }
  throw clientError(
    `The Tinker server gave ${joined.outputs.length} results for ${data.length} rows, or some without log-probabilities.`,
    { code: 'tinker-protocol', requestId: ids[0] },
  );
}
