// What goes out comes back: every message of the data plane through both codecs.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as arbitrary from './arbitraries.ts';
import {
  decodeForwardBackwardOutput,
  decodeForwardBackwardRequest,
  decodeSampleResponse,
  encodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
  encodeSampleResponse,
  formatJson,
  forwardBackwardOutputFromJson,
  forwardBackwardOutputToJson,
  forwardBackwardRequestFromJson,
  forwardBackwardRequestToJson,
  parseJson,
  sampleRequestFromJson,
  sampleRequestToJson,
  sampleResponseFromJson,
  sampleResponseToJson,
} from '../../src/tinker/index.ts';

it('a training request survives protobuf', () => {
  fc.assert(
    fc.property(arbitrary.forwardBackwardRequest, (request) => {
      expect(decodeForwardBackwardRequest(encodeForwardBackwardRequest(request))).toEqual(request);
    }),
  );
});

it('a training request survives JSON', () => {
  fc.assert(
    fc.property(arbitrary.forwardBackwardRequest, (request) => {
      const text = formatJson(forwardBackwardRequestToJson(request));
      expect(forwardBackwardRequestFromJson(parseJson(text), request.forwardOnly)).toEqual(request);
    }),
  );
});

it('a training result survives protobuf', () => {
  fc.assert(
    fc.property(arbitrary.forwardBackwardOutput, (output) => {
      expect(decodeForwardBackwardOutput(encodeForwardBackwardOutput(output))).toEqual(output);
    }),
  );
});

it('a training result survives JSON', () => {
  fc.assert(
    fc.property(arbitrary.forwardBackwardOutput, (output) => {
      const text = formatJson(forwardBackwardOutputToJson(output));
      expect(forwardBackwardOutputFromJson(parseJson(text))).toEqual(output);
    }),
  );
});

it('a request for samples survives JSON, its 64-bit numbers exact', () => {
  fc.assert(
    fc.property(arbitrary.sampleRequest, (request) => {
      expect(sampleRequestFromJson(parseJson(formatJson(sampleRequestToJson(request))))).toEqual(request);
    }),
  );
});

it('a result of sampling survives protobuf, NaN included', () => {
  fc.assert(
    fc.property(arbitrary.sampleResponse, (response) => {
      expect(decodeSampleResponse(encodeSampleResponse(response))).toEqual(response);
    }),
  );
});

it('a result of sampling survives JSON, NaN as null', () => {
  fc.assert(
    fc.property(arbitrary.sampleResponse, (response) => {
      expect(sampleResponseFromJson(parseJson(formatJson(sampleResponseToJson(response))))).toEqual(response);
    }),
  );
});
