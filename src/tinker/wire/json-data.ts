// Tensors, chunks and training rows as JSON, both ways.

import {
  asDoubles,
  asFloat32s,
  asInt32,
  asInt32s,
  asInteger,
  asList,
  asMap,
  asText,
  optional,
  present,
  type JsonMap,
} from './json-read.ts';
import type { WireJson } from './json-text.ts';
import type { DecodeLimits } from './limits.ts';
import type { Chunk, ImageFormat, ModelInput, ProvenanceSpan, Tensor, TensorMap, WireDatum } from './model.ts';
import { checkTensor } from './tensors.ts';
import { malformed, unsendable } from './wire-error.ts';

export function tensorToJson({ dtype, shape, values, sparse }: Tensor, where: string): JsonMap {
  const bad = values.findIndex((value: number) => !Number.isFinite(value));
  if (bad !== -1) throw unsendable(`${where}[${bad}]`, `${values[bad]} is no JSON number`);
  return present({
    data: Array.from(values),
    dtype,
    shape,
    sparse_crow_indices: sparse && Array.from(sparse.rowStarts),
    sparse_col_indices: sparse && Array.from(sparse.columns),
  });
}

export function tensorFromJson(value: WireJson, where: string, limits: DecodeLimits): Tensor {
  const map = asMap(value, where);
  const dtype = asText(map['dtype'], `${where}.dtype`);
  if (dtype !== 'float32' && dtype !== 'int64') throw malformed(`${where}.dtype`, `"${dtype}" is not float32 or int64`);
  const values =
    dtype === 'float32' ? asFloat32s(map['data'], `${where}.data`) : asDoubles(map['data'], `${where}.data`);
  const shape = optional(map['shape'], `${where}.shape`, (sides, at) => Array.from(asDoubles(sides, at)));
  const rowStarts = optional(map['sparse_crow_indices'], `${where}.sparse_crow_indices`, asDoubles);
  const columns = optional(map['sparse_col_indices'], `${where}.sparse_col_indices`, asDoubles);
  if (rowStarts === undefined || columns === undefined) {
    if (rowStarts !== columns) throw malformed(where, 'a sparse tensor needs both row starts and columns');
    return checkTensor({ dtype, shape: shape ?? [values.length], values }, where, limits);
  }
  if (shape === undefined) throw malformed(where, 'a sparse tensor needs its shape');
  return checkTensor({ dtype, shape, values, sparse: { rowStarts, columns } }, where, limits);
}

export function tensorsToJson(tensors: TensorMap, where: string): JsonMap {
  return mapValues(tensors, (tensor, name) => tensorToJson(tensor, `${where}.${name}`));
}

export function tensorsFromJson(value: WireJson | undefined, where: string, limits: DecodeLimits): TensorMap {
  return mapValues(asMap(value, where), (tensor, name) => tensorFromJson(tensor ?? null, `${where}.${name}`, limits));
}

export function inputToJson(input: ModelInput): JsonMap {
  return { chunks: input.map(chunkToJson) };
}

export function inputFromJson(value: WireJson | undefined, where: string): ModelInput {
  const chunks = asList(asMap(value, where)['chunks'], `${where}.chunks`);
  return chunks.map((chunk, i) => chunkFromJson(chunk, `${where}.chunks[${i}]`));
}

function chunkToJson(chunk: Chunk): JsonMap {
  switch (chunk.kind) {
    case 'text':
      return { tokens: Array.from(chunk.tokens), type: 'encoded_text' };
    case 'image': {
      const { data, format, expectedTokens } = chunk;
      return present({ data: base64(data), format, expected_tokens: expectedTokens, type: 'image' });
    }
    case 'image-pointer': {
      const { location, format, expectedTokens } = chunk;
      return present({ location, format, expected_tokens: expectedTokens, type: 'image_asset_pointer' });
    }
    case 'dmel':
      return { dmel: base64(chunk.data), type: 'dmel' };
  }
}

function chunkFromJson(value: WireJson, where: string): Chunk {
  const map = asMap(value, where);
  // Older clients leave the type away where only tokens can be meant.
  const type = optional(map['type'], `${where}.type`, asText) ?? 'encoded_text';
  if (type === 'encoded_text') return { kind: 'text', tokens: asInt32s(map['tokens'], `${where}.tokens`) };
  if (type === 'dmel') return { kind: 'dmel', data: fromBase64(map['dmel'], `${where}.dmel`) };
  if (type !== 'image' && type !== 'image_asset_pointer')
    throw malformed(`${where}.type`, `"${type}" is no chunk type`);
  const shared = {
    format: imageFormat(asText(map['format'], `${where}.format`), where),
    ...present({ expectedTokens: optional(map['expected_tokens'], `${where}.expected_tokens`, asInt32) }),
  };
  if (type === 'image') return { kind: 'image', data: fromBase64(map['data'], `${where}.data`), ...shared };
  return { kind: 'image-pointer', location: asText(map['location'], `${where}.location`), ...shared };
}

export function imageFormat(format: string, where: string): ImageFormat {
  if (format === 'png' || format === 'jpeg') return format;
  throw malformed(`${where}.format`, `"${format}" is not png or jpeg`);
}

export function datumToJson(datum: WireDatum, where: string): JsonMap {
  return present({
    model_input: inputToJson(datum.modelInput),
    loss_fn_inputs: tensorsToJson(datum.lossInputs, `${where}.loss_fn_inputs`),
    model_input_spans: datum.modelInputSpans?.map(spanToJson),
    loss_fn_input_spans: datum.lossInputSpans?.map(spanToJson),
  });
}

export function datumFromJson(value: WireJson, where: string, limits: DecodeLimits): WireDatum {
  const map = asMap(value, where);
  const spans = (spansOf: WireJson, at: string): readonly ProvenanceSpan[] =>
    asList(spansOf, at).map((span, i) => spanFromJson(span, `${at}[${i}]`));
  return {
    modelInput: inputFromJson(map['model_input'], `${where}.model_input`),
    lossInputs: tensorsFromJson(map['loss_fn_inputs'] ?? {}, `${where}.loss_fn_inputs`, limits),
    ...present({
      modelInputSpans: optional(map['model_input_spans'], `${where}.model_input_spans`, spans),
      lossInputSpans: optional(map['loss_fn_input_spans'], `${where}.loss_fn_input_spans`, spans),
    }),
  };
}

function spanToJson({ kind, sequenceId, offset, length }: ProvenanceSpan): JsonMap {
  return { type: kind === 'prompt' ? 'prompt_tokens' : 'sampled_tokens', sequence_id: sequenceId, offset, length };
}

function spanFromJson(value: WireJson, where: string): ProvenanceSpan {
  const map = asMap(value, where);
  return {
    kind: asText(map['type'], `${where}.type`) === 'prompt_tokens' ? 'prompt' : 'sampled',
    sequenceId: asText(map['sequence_id'], `${where}.sequence_id`),
    offset: optional(map['offset'], `${where}.offset`, asInteger) ?? 0,
    length: asInteger(map['length'], `${where}.length`),
  };
}

export function mapValues<A, B>(
  map: { readonly [key: string]: A },
  change: (value: A, name: string) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value, name)]));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function fromBase64(value: WireJson | undefined, where: string): Uint8Array {
  const text = asText(value, where);
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw malformed(where, 'it is no base64');
  return new Uint8Array(Buffer.from(text, 'base64'));
}
