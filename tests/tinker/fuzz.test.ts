// Both decoders on random and on damaged bytes: a typed error or a message, within bounded time and memory, never
// anything else.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TabwrightError } from '../../src/core/index.ts';
import * as arbitrary from './arbitraries.ts';
import {
  decodeForwardBackwardOutput,
  decodeForwardBackwardRequest,
  decodeSampleResponse,
  DEFAULT_LIMITS,
  encodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
  encodeSampleResponse,
  formatJson,
  forwardBackwardOutputFromJson,
  forwardBackwardRequestFromJson,
  forwardBackwardRequestToJson,
  openZstd,
  parseJson,
  sampleRequestFromJson,
  sampleRequestToJson,
  sampleResponseFromJson,
} from '../../src/tinker/index.ts';

const limits = { maxBytes: 1_000_000, maxParts: 10_000, maxElements: 100_000, maxDepth: 32 };
const runs = { numRuns: 500 };

const binary: readonly ((bytes: Uint8Array) => unknown)[] = [
  (bytes) => decodeForwardBackwardRequest(bytes, limits),
  (bytes) => decodeForwardBackwardOutput(bytes, limits),
  (bytes) => decodeSampleResponse(bytes, limits),
  (bytes) => openZstd(bytes, limits.maxBytes),
];
const textual: readonly ((bytes: Uint8Array) => unknown)[] = [
  (bytes) => forwardBackwardRequestFromJson(parseJson(bytes, limits), false, limits),
  (bytes) => forwardBackwardOutputFromJson(parseJson(bytes, limits), limits),
  (bytes) => sampleRequestFromJson(parseJson(bytes, limits), limits),
  (bytes) => sampleResponseFromJson(parseJson(bytes, limits), limits),
];

/** Bytes of a message with some of them replaced, taken out or doubled. */
function damaged(bytes: Uint8Array, changes: readonly { at: number; by: number; kind: number }[]): Uint8Array {
  let out = Array.from(bytes);
  for (const { at, by, kind } of changes) {
    if (out.length === 0) break;
    const place = at % out.length;
    if (kind === 0) out[place] = by;
    else if (kind === 1) out.splice(place, 1 + (by % 8));
    else out = [...out.slice(0, place), ...out.slice(place, place + (by % 32)), ...out.slice(place)];
  }
  return Uint8Array.from(out);
}

const change = fc.record({ at: fc.nat(), by: fc.nat(255), kind: fc.nat(2) });
const changes = fc.array(change, { minLength: 1, maxLength: 6 });

function onlyTypedErrors(decoders: readonly ((bytes: Uint8Array) => unknown)[], bytes: Uint8Array): void {
  for (const decode of decoders) {
    try {
      decode(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(TabwrightError);
      expect(['malformed-message', 'message-too-large']).toContain((error as TabwrightError).code);
    }
  }
}

it('random bytes raise typed errors only', () => {
  const bytes = fc.uint8Array({ maxLength: 400 });
  fc.assert(
    fc.property(bytes, (input) => onlyTypedErrors([...binary, ...textual], input)),
    runs,
  );
});

it('damaged protobuf messages raise typed errors only', () => {
  const message = fc.oneof(
    arbitrary.forwardBackwardRequest.map(encodeForwardBackwardRequest),
    arbitrary.forwardBackwardOutput.map(encodeForwardBackwardOutput),
    arbitrary.sampleResponse.map(encodeSampleResponse),
  );
  fc.assert(
    fc.property(message, changes, (bytes, list) => onlyTypedErrors(binary, damaged(bytes, list))),
    runs,
  );
});

it('damaged JSON messages raise typed errors only', () => {
  const message = fc.oneof(
    arbitrary.forwardBackwardRequest.map((request) => formatJson(forwardBackwardRequestToJson(request))),
    arbitrary.sampleRequest.map((request) => formatJson(sampleRequestToJson(request))),
  );
  const encoder = new TextEncoder();
  fc.assert(
    fc.property(message, changes, (text, list) => onlyTypedErrors(textual, damaged(encoder.encode(text), list))),
    runs,
  );
});

it('arbitrary JSON of any shape raises typed errors only', () => {
  const encoder = new TextEncoder();
  fc.assert(
    fc.property(fc.json(), (text) => onlyTypedErrors(textual, encoder.encode(text))),
    runs,
  );
});

it('megabytes of empty messages are refused before they become objects', () => {
  // Field 3 of the request, a datum of no bytes, ten million times.
  const bytes = new Uint8Array(20_000_000);
  for (let i = 0; i < bytes.length; i += 2) bytes[i] = 0x1a;
  const before = process.memoryUsage().heapUsed;
  const start = performance.now();
  expect(() => decodeForwardBackwardRequest(bytes, { ...DEFAULT_LIMITS, maxParts: 100_000 })).toThrow(/parts/);
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
});

it('megabytes of opening brackets are refused by number and by depth', () => {
  const flat = `[${'{},'.repeat(2_000_000)}{}]`;
  expect(() => parseJson(flat, { ...DEFAULT_LIMITS, maxParts: 100_000 })).toThrow(/parts/);
  expect(() => parseJson('['.repeat(1_000_000), DEFAULT_LIMITS)).toThrow(/depth/);
});

it('two thousand million rows without cells are refused before they become arrays', () => {
  const table = { k: 0, length: 2 ** 31 - 1, tokens: new Int32Array(), logprobs: new Float32Array() };
  const bytes = encodeSampleResponse({ sequences: [], promptCacheHitTokens: 0, topkPromptLogprobs: table });
  expect(() => decodeSampleResponse(bytes)).toThrow(/rows of 0 cells/);
});

it('a sparse tensor that claims to be immense is refused before it is written out', () => {
  const tensor = {
    data: [],
    dtype: 'float32',
    shape: [1, 2 ** 40],
    sparse_crow_indices: [0, 0],
    sparse_col_indices: [],
  };
  const request = { forward_input: { data: [{ model_input: { chunks: [] }, loss_fn_inputs: { w: tensor } }] } };
  const read = (): unknown =>
    forwardBackwardRequestFromJson(parseJson(JSON.stringify({ model_id: 'm', ...request })), true);
  expect(read).toThrow(/elements/);
});
