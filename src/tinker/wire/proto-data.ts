// Tensors, chunks and training rows as protobuf messages, both ways.

import { create } from '@bufbuild/protobuf';
import * as pb from './generated/tinker_public_pb.ts';
import { imageFormat } from './json-data.ts';
import { present } from './json-read.ts';
import type { DecodeLimits } from './limits.ts';
import type { Chunk, ProvenanceSpan, Tensor, TensorDtype, WireDatum } from './model.ts';
import { float32Bytes, int32Bytes, int64Bytes, readBfloat16, readFloat32, readInt32, readInt64 } from './numbers.ts';
import { checkTensor } from './tensors.ts';
import { malformed, unsendable } from './wire-error.ts';

export function tensorToProto({ dtype, shape, values, sparse }: Tensor, where: string): pb.Tensor {
  const encoding: pb.Tensor['encoding'] = sparse
    ? {
        case: 'sparseCsr',
        value: create(pb.SparseCsrSchema, {
          values: valueBytes(dtype, values, where),
          crowIndices: int64Bytes(sparse.rowStarts, where),
          colIndices: int64Bytes(sparse.columns, where),
        }),
      }
    : { case: 'dense', value: valueBytes(dtype, values, where) };
  return create(pb.TensorSchema, { encoding, dtype: protoDtype(dtype), shape: shape.map(BigInt) });
}

export function tensorFromProto(tensor: pb.Tensor, where: string, limits: DecodeLimits): Tensor {
  const { encoding, dtype, shape: sides } = tensor;
  const shape = sides.map(Number);
  if (encoding.case === 'sparseCsr') {
    const { values, crowIndices, colIndices } = encoding.value;
    const sparse = {
      rowStarts: readInt64(crowIndices, `${where}.crow_indices`),
      columns: readInt64(colIndices, `${where}.col_indices`),
    };
    return checkTensor({ ...readValues(values, dtype, where), shape, sparse }, where, limits);
  }
  const read = readValues(encoding.value ?? new Uint8Array(), dtype, where);
  return checkTensor({ ...read, shape: shape.length === 0 ? [read.values.length] : shape }, where, limits);
}

export function valueBytes(dtype: TensorDtype, values: ArrayLike<number>, where: string): Uint8Array {
  return dtype === 'float32' ? float32Bytes(values) : int64Bytes(values, where);
}

export function protoDtype(dtype: TensorDtype): pb.DType {
  return dtype === 'float32' ? pb.DType.DTYPE_FLOAT32 : pb.DType.DTYPE_INT64;
}

/** Narrow types come out as the wide ones of the model. */
export function readValues(bytes: Uint8Array, dtype: pb.DType, where: string): Pick<Tensor, 'dtype' | 'values'> {
  switch (dtype) {
    case pb.DType.DTYPE_FLOAT32:
      return { dtype: 'float32', values: readFloat32(bytes, where) };
    case pb.DType.DTYPE_BFLOAT16:
      return { dtype: 'float32', values: readBfloat16(bytes, where) };
    case pb.DType.DTYPE_INT64:
      return { dtype: 'int64', values: readInt64(bytes, where) };
    case pb.DType.DTYPE_INT32:
      return { dtype: 'int64', values: Float64Array.from(readInt32(bytes, where)) };
    default:
      throw malformed(`${where}.dtype`, `${dtype} is no known type of number`);
  }
}

/** Bytes of one number of this type. */
export function widthOf(dtype: pb.DType, where: string): number {
  switch (dtype) {
    case pb.DType.DTYPE_FLOAT32:
    case pb.DType.DTYPE_INT32:
      return 4;
    case pb.DType.DTYPE_BFLOAT16:
      return 2;
    case pb.DType.DTYPE_INT64:
      return 8;
    default:
      throw malformed(`${where}.dtype`, `${dtype} is no known type of number`);
  }
}

export function datumToProto(datum: WireDatum, where: string): pb.Datum {
  const tensors = Object.entries(datum.lossInputs).map(([name, tensor]) => [
    name,
    tensorToProto(tensor, `${where}.loss_fn_inputs.${name}`),
  ]);
  return create(pb.DatumSchema, {
    modelInput: datum.modelInput.map((chunk, i) => chunkToProto(chunk, `${where}.model_input[${i}]`)),
    lossFnInputs: Object.fromEntries(tensors) as Record<string, pb.Tensor>,
    modelInputSpans: (datum.modelInputSpans ?? []).map(spanToProto),
    lossFnInputSpans: (datum.lossInputSpans ?? []).map(spanToProto),
  });
}

export function datumFromProto(datum: pb.Datum, where: string, limits: DecodeLimits): WireDatum {
  const tensors = Object.entries(datum.lossFnInputs).map(([name, tensor]) => [
    name,
    tensorFromProto(tensor, `${where}.loss_fn_inputs.${name}`, limits),
  ]);
  const spans = (list: readonly pb.ProvenanceSpan[], name: string): readonly ProvenanceSpan[] | undefined =>
    list.length === 0 ? undefined : list.map((span, i) => spanFromProto(span, `${where}.${name}[${i}]`));
  return {
    modelInput: datum.modelInput.map((chunk, i) => chunkFromProto(chunk, `${where}.model_input[${i}]`)),
    lossInputs: Object.fromEntries(tensors) as Record<string, Tensor>,
    ...present({
      modelInputSpans: spans(datum.modelInputSpans, 'model_input_spans'),
      lossInputSpans: spans(datum.lossFnInputSpans, 'loss_fn_input_spans'),
    }),
  };
}

function chunkToProto(chunk: Chunk, where: string): pb.Chunk {
  switch (chunk.kind) {
    case 'text':
      return create(pb.ChunkSchema, { chunk: { case: 'encodedText', value: text(chunk.tokens) } });
    case 'image': {
      const { data, format, expectedTokens } = chunk;
      const value = create(pb.ImageChunkSchema, { data, format, ...present({ expectedTokens }) });
      return create(pb.ChunkSchema, { chunk: { case: 'image', value } });
    }
    case 'image-pointer':
      throw unsendable(where, 'a pointer to an image has no binary form; send the image itself');
    case 'dmel':
      return create(pb.ChunkSchema, {
        chunk: { case: 'dmel', value: create(pb.DmelChunkSchema, { dmel: chunk.data }) },
      });
  }
}

function text(tokens: Int32Array): pb.EncodedTextChunk {
  return create(pb.EncodedTextChunkSchema, { tokens: int32Bytes(tokens) });
}

function chunkFromProto({ chunk }: pb.Chunk, where: string): Chunk {
  switch (chunk.case) {
    case 'encodedText':
      return { kind: 'text', tokens: readInt32(chunk.value.tokens, `${where}.tokens`) };
    case 'image': {
      const { data, format, expectedTokens } = chunk.value;
      return { kind: 'image', data, format: imageFormat(format, where), ...present({ expectedTokens }) };
    }
    case 'dmel':
      return { kind: 'dmel', data: chunk.value.dmel };
    case undefined:
      throw malformed(where, 'a chunk of a kind that is not known here');
  }
}

function spanToProto({ kind, sequenceId, offset, length }: ProvenanceSpan): pb.ProvenanceSpan {
  const value = { sequenceId, offset: BigInt(offset), length: BigInt(length) };
  return create(pb.ProvenanceSpanSchema, {
    span:
      kind === 'prompt'
        ? { case: 'promptTokens', value: create(pb.PromptProvenanceSpanSchema, value) }
        : { case: 'sampledTokens', value: create(pb.SampledProvenanceSpanSchema, value) },
  });
}

function spanFromProto({ span }: pb.ProvenanceSpan, where: string): ProvenanceSpan {
  if (span.case === undefined) throw malformed(where, 'a span of a kind that is not known here');
  const { sequenceId, offset, length } = span.value;
  const kind = span.case === 'promptTokens' ? 'prompt' : 'sampled';
  return { kind, sequenceId, offset: Number(offset), length: Number(length) };
}
