// What a future comes to: the two results of the data plane, which have two forms on the wire, and everything else, which
// is JSON.

import type { JsonObject } from '../../core/index.ts';
import type { ForwardBackwardOutput, TensorMap, TopkTable, WireSampleResponse } from '../../tinker/index.ts';

export type Result =
  | { readonly kind: 'json'; readonly body: JsonObject }
  | { readonly kind: 'forward_backward'; readonly output: ForwardBackwardOutput }
  | { readonly kind: 'sample'; readonly response: WireSampleResponse };

/** Bytes that a result keeps in memory, roughly. */
export function resultBytes(result: Result): number {
  switch (result.kind) {
    case 'json':
      return JSON.stringify(result.body).length * 2;
    case 'forward_backward':
      return result.output.outputs.reduce((sum, output) => sum + tensorBytes(output), 0);
    case 'sample': {
      const { sequences, promptLogprobs, topkPromptLogprobs, targetPromptLogprobs } = result.response;
      const sampled = sequences.map(
        ({ tokens, logprobs, topk }) => tokens.byteLength + (logprobs?.byteLength ?? 0) + topkBytes(topk),
      );
      return (
        sampled.reduce((sum, bytes) => sum + bytes, 0) +
        (promptLogprobs?.byteLength ?? 0) +
        topkBytes(topkPromptLogprobs) +
        (targetPromptLogprobs?.values.byteLength ?? 0)
      );
    }
    default:
      return result satisfies never;
  }
}

function tensorBytes(tensors: TensorMap): number {
  return Object.values(tensors).reduce((sum, { values }) => sum + values.byteLength, 0);
}

function topkBytes(table: TopkTable | undefined): number {
  return table === undefined ? 0 : table.tokens.byteLength + table.logprobs.byteLength;
}
