// Cutting the rows of one call into requests that a server is willing to take, and joining their results. Pure.
// Source: the SDK's chunking rule and its estimate of sizes.

import { reduceMetrics, type ForwardBackwardOutput, type ModelInput, type WireDatum } from '../wire/index.ts';

export type ChunkLimits = { readonly maxRows: number; readonly maxBytes: number };

/** A chunk is closed when it has `maxRows`, or when the next row would take it beyond `maxBytes`; a row is never cut. */
export function chunkRows(
  data: readonly WireDatum[],
  { maxRows, maxBytes }: ChunkLimits,
): readonly (readonly WireDatum[])[] {
  const chunks: WireDatum[][] = [];
  let bytes = 0;
  for (const datum of data) {
    const size = datumBytes(datum);
    const last = chunks.at(-1);
    if (last === undefined || last.length >= maxRows || bytes + size > maxBytes) {
      chunks.push([datum]);
      bytes = size;
    } else {
      last.push(datum);
      bytes += size;
    }
  }
  return chunks;
}

export function datumBytes({ modelInput, lossInputs }: WireDatum): number {
  const tensors = Object.values(lossInputs).reduce((sum, { values, sparse }) => {
    const indices = sparse === undefined ? 0 : 8 * (sparse.rowStarts.length + sparse.columns.length);
    return sum + values.byteLength + indices;
  }, 0);
  return inputBytes(modelInput, 4) + tensors;
}

export function inputBytes(input: ModelInput, bytesPerToken: number): number {
  return input.reduce((sum, chunk) => {
    if (chunk.kind === 'text') return sum + bytesPerToken * chunk.tokens.length;
    return sum + (chunk.kind === 'image-pointer' ? chunk.location.length : chunk.data.length);
  }, 0);
}

export function joinOutputs(outputs: readonly ForwardBackwardOutput[]): ForwardBackwardOutput {
  return {
    outputType: outputs[0]?.outputType ?? '',
    outputs: outputs.flatMap((output) => output.outputs),
    metrics: reduceMetrics(outputs.map((output) => ({ metrics: output.metrics, count: output.outputs.length }))),
  };
}
