// forward_backward's request and result as protobuf, both ways.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import * as pb from './generated/tinker_public_pb.ts';
import { DEFAULT_LIMITS, type DecodeLimits } from './limits.ts';
import type { ForwardBackwardOutput, ForwardBackwardRequest, Tensor, TensorMap } from './model.ts';
import { int64Bytes, readInt64 } from './numbers.ts';
import { datumFromProto, datumToProto, protoDtype, readValues, valueBytes, widthOf } from './proto-data.ts';
import { asMalformed, scanProto } from './proto-scan.ts';
import { denseValues, sizeOf } from './tensors.ts';
import { malformed, tooLarge } from './wire-error.ts';

export function encodeForwardBackwardRequest(request: ForwardBackwardRequest): Uint8Array {
  const config = Object.entries(request.lossConfig);
  const numbers = config.filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  const message = create(pb.ForwardBackwardRequestSchema, {
    modelId: request.modelId,
    seqId: request.seqId ?? 0,
    data: request.data.map((datum, i) => datumToProto(datum, `data[${i}]`)),
    lossFn: request.lossFn,
    // Numbers go into both maps: servers of before the second one read the first.
    lossFnConfig: Object.fromEntries(numbers),
    lossFnConfigV2: Object.fromEntries(config.map(([name, value]) => [name, configValue(value)])),
    forwardOnly: request.forwardOnly,
  });
  return toBinary(pb.ForwardBackwardRequestSchema, message);
}

function configValue(value: number | string): pb.LossConfigValue {
  return create(pb.LossConfigValueSchema, {
    value: typeof value === 'number' ? { case: 'number', value } : { case: 'text', value },
  });
}

export function decodeForwardBackwardRequest(
  bytes: Uint8Array,
  limits: DecodeLimits = DEFAULT_LIMITS,
): ForwardBackwardRequest {
  scanProto(bytes, pb.ForwardBackwardRequestSchema, limits);
  let message: pb.ForwardBackwardRequest;
  try {
    message = fromBinary(pb.ForwardBackwardRequestSchema, bytes);
  } catch (error) {
    throw asMalformed(error, pb.ForwardBackwardRequestSchema);
  }
  const newer = Object.entries(message.lossFnConfigV2).map(([name, { value }]) => {
    if (value.case === undefined) throw malformed(`loss_fn_config_v2.${name}`, 'neither a number nor a text');
    return [name, value.value] as const;
  });
  return {
    modelId: message.modelId,
    seqId: message.seqId === 0 ? undefined : message.seqId,
    data: message.data.map((datum, i) => datumFromProto(datum, `data[${i}]`, limits)),
    lossFn: message.lossFn,
    lossConfig: newer.length > 0 ? Object.fromEntries(newer) : { ...message.lossFnConfig },
    forwardOnly: message.forwardOnly,
  };
}

/** Datums whose outputs are alike share a record: the same names, types and trailing shapes. */
export function encodeForwardBackwardOutput({ outputType, outputs, metrics }: ForwardBackwardOutput): Uint8Array {
  const records: { readonly likeness: string; readonly outputs: TensorMap[] }[] = [];
  for (const output of outputs) {
    const likeness = JSON.stringify(
      Object.entries(output).map(([name, { dtype, shape }]) => [name, dtype, shape.slice(1)]),
    );
    const last = records.at(-1);
    if (last?.likeness === likeness) last.outputs.push(output);
    else records.push({ likeness, outputs: [output] });
  }
  const message = create(pb.ForwardBackwardOutputSchema, {
    lossFnOutputType: outputType,
    lossFnOutputs: records.map((record) => encodeRecord(record.outputs, outputType)),
    metrics,
  });
  return toBinary(pb.ForwardBackwardOutputSchema, message);
}

function encodeRecord(outputs: readonly TensorMap[], typeTag: string): pb.ArrayRecord {
  const fields = Object.keys(outputs[0]).map((name) => [
    name,
    encodeBatch(
      outputs.map((output) => output[name]),
      name,
    ),
  ]);
  return create(pb.ArrayRecordSchema, {
    typeTag,
    fields: Object.fromEntries(fields) as Record<string, pb.BatchedTensor>,
    numDatums: BigInt(outputs.length),
  });
}

function encodeBatch(tensors: readonly Tensor[], name: string): pb.BatchedTensor {
  const { dtype, shape } = tensors[0];
  const parts = tensors.map((tensor) => valueBytes(dtype, denseValues(tensor), name));
  const offsets = [0];
  for (const part of parts) offsets.push(offsets.at(-1)! + part.length);
  return create(pb.BatchedTensorSchema, {
    data: new Uint8Array(Buffer.concat(parts)),
    offsets: int64Bytes(offsets, name),
    dtype: protoDtype(dtype),
    trailingShape: shape.slice(1).map(BigInt),
  });
}

export function decodeForwardBackwardOutput(
  bytes: Uint8Array,
  limits: DecodeLimits = DEFAULT_LIMITS,
): ForwardBackwardOutput {
  scanProto(bytes, pb.ForwardBackwardOutputSchema, limits);
  let message: pb.ForwardBackwardOutput;
  try {
    message = fromBinary(pb.ForwardBackwardOutputSchema, bytes);
  } catch (error) {
    throw asMalformed(error, pb.ForwardBackwardOutputSchema);
  }
  const outputs: TensorMap[] = [];
  message.lossFnOutputs.forEach((record, i) => {
    const where = `loss_fn_outputs[${i}]`;
    if (outputs.length + Number(record.numDatums) > limits.maxParts) {
      throw tooLarge(`${where}.num_datums`, Number(record.numDatums), limits.maxParts);
    }
    outputs.push(...decodeRecord(record, where));
  });
  // A class may come as `module:Class`; an empty list keeps the whole text, as in the SDK.
  const type = message.lossFnOutputType;
  return {
    outputType: outputs.length === 0 ? type : type.slice(type.lastIndexOf(':') + 1),
    outputs,
    metrics: { ...message.metrics },
  };
}

function decodeRecord(record: pb.ArrayRecord, where: string): readonly TensorMap[] {
  const count = Number(record.numDatums);
  if (count < 0) throw malformed(`${where}.num_datums`, `${count} is less than none`);
  const datums: Record<string, Tensor>[] = Array.from({ length: count }, () => ({}));
  for (const [name, batch] of Object.entries(record.fields)) {
    decodeBatch(batch, count, `${where}.${name}`).forEach((tensor, i) => {
      Object.defineProperty(datums[i], name, { value: tensor, enumerable: true });
    });
  }
  return datums;
}

function decodeBatch(batch: pb.BatchedTensor, count: number, where: string): readonly Tensor[] {
  const { data, dtype } = batch;
  const trailing = batch.trailingShape.map(Number);
  const row = sizeOf(trailing) * widthOf(dtype, where);
  if (!(row > 0 && Number.isSafeInteger(row))) throw malformed(where, `[${trailing.join(', ')}] is no trailing shape`);
  const offsets = readInt64(batch.offsets, `${where}.offsets`);
  if (offsets.length !== count + 1) throw malformed(where, `${offsets.length} offsets for ${count} rows`);
  return Array.from({ length: count }, (_, i) => {
    const [start, end] = [offsets[i], offsets[i + 1]];
    if (!(start >= 0 && end >= start && end <= data.length)) throw malformed(where, `offsets ${start} to ${end}`);
    if ((end - start) % row !== 0) throw malformed(where, `${end - start} bytes are no whole number of rows`);
    const read = readValues(data.subarray(start, end), dtype, `${where}[${i}]`);
    return { ...read, shape: [(end - start) / row, ...trailing] };
  });
}
