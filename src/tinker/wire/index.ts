// The wire of Tinker: one typed model, two codecs, the messages of the control plane. For clients and servers alike.

export * from './account.ts';
export { acceptsProtobuf, isProtobuf, JSON_TYPE, PROTOBUF } from './content.ts';
export * from './control.ts';
export {
  forwardBackwardOutputFromJson,
  forwardBackwardOutputToJson,
  forwardBackwardRequestFromJson,
  forwardBackwardRequestToJson,
} from './json-forward.ts';
export {
  sampleRequestFromJson,
  sampleRequestToJson,
  sampleResponseFromJson,
  sampleResponseToJson,
} from './json-sample.ts';
export { formatJson, parseJson, parsePlainJson, type WireJson } from './json-text.ts';
export { DEFAULT_LIMITS, type DecodeLimits } from './limits.ts';
export { reduceMetrics, type ChunkMetrics } from './metric-reduction.ts';
export type * from './model.ts';
export { formatTinkerPath, parseTinkerPath, TINKER_SCHEME, type TinkerPath } from './paths.ts';
export {
  decodeForwardBackwardOutput,
  decodeForwardBackwardRequest,
  encodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
} from './proto-forward.ts';
export { decodeSampleResponse, encodeSampleResponse } from './proto-sample.ts';
export {
  checkTensor,
  denseValues,
  EMPTY_CELL,
  floatTensor,
  intTensor,
  topkRows,
  topkTable,
  toSparse,
  type TopkRow,
} from './tensors.ts';
export { malformed, tooLarge, unsendable } from './wire-error.ts';
export { openZstd } from './zstd.ts';
