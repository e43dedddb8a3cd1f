// Random messages of the model, for the tests of the codecs only.

import fc from 'fast-check';
import type {
  Chunk,
  ForwardBackwardOutput,
  ForwardBackwardRequest,
  ProvenanceSpan,
  Tensor,
  TopkTable,
  WireDatum,
  WireSampleRequest,
  WireSampleResponse,
} from '../../src/tinker/index.ts';
import { topkTable, toSparse } from '../../src/tinker/index.ts';

/** Without the keys whose value is undefined. */
function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> };
}

const name = fc.string({ minLength: 1, maxLength: 8 });
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const safe = fc.maxSafeInteger();
const bytes = fc.uint8Array({ maxLength: 20 });
const float = fc.float({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0));
const tokens = fc.array(int32, { maxLength: 12 }).map((list) => Int32Array.from(list));
const side = fc.integer({ min: 0, max: 4 });

const dense: fc.Arbitrary<Tensor> = fc
  .record({ shape: fc.array(side, { minLength: 1, maxLength: 3 }), isFloat: fc.boolean() })
  .chain(({ shape, isFloat }) => {
    const size = shape.reduce((a, b) => a * b, 1);
    const exactly = { minLength: size, maxLength: size };
    return isFloat
      ? fc
          .array(float, exactly)
          .map((values): Tensor => ({ dtype: 'float32', shape, values: Float32Array.from(values) }))
      : fc.array(safe, exactly).map((values): Tensor => ({ dtype: 'int64', shape, values: Float64Array.from(values) }));
  });

export const tensor: fc.Arbitrary<Tensor> = fc.oneof(
  dense,
  dense.filter(({ shape }) => shape.length === 2).map(toSparse),
);

const format = fc.constantFrom('png' as const, 'jpeg' as const);
const expectedTokens = fc.option(int32, { nil: undefined });
const textChunk: fc.Arbitrary<Chunk> = tokens.map((list) => ({ kind: 'text', tokens: list }));
const imageChunk: fc.Arbitrary<Chunk> = fc
  .record({ data: bytes, format, expectedTokens })
  .map((image) => ({ kind: 'image', ...present(image) }));
const soundChunk: fc.Arbitrary<Chunk> = bytes.map((data) => ({ kind: 'dmel', data }));
const pointerChunk: fc.Arbitrary<Chunk> = fc
  .record({ location: fc.string(), format, expectedTokens })
  .map((pointer) => ({ kind: 'image-pointer', ...present(pointer) }));
const chunk = fc.oneof(textChunk, imageChunk, soundChunk);

const span: fc.Arbitrary<ProvenanceSpan> = fc.record({
  kind: fc.constantFrom('prompt' as const, 'sampled' as const),
  sequenceId: fc.string(),
  offset: fc.nat(),
  length: fc.nat(),
});
const spans = fc.option(fc.array(span, { minLength: 1, maxLength: 3 }), { nil: undefined });

export const datum: fc.Arbitrary<WireDatum> = fc
  .record({
    modelInput: fc.array(chunk, { maxLength: 4 }),
    lossInputs: fc.dictionary(name, tensor, { maxKeys: 3, noNullPrototype: true }),
    modelInputSpans: spans,
    lossInputSpans: spans,
  })
  .map((row) => present(row) as WireDatum);

export const forwardBackwardRequest: fc.Arbitrary<ForwardBackwardRequest> = fc.record({
  modelId: fc.string(),
  seqId: fc.option(fc.integer({ min: 1, max: 2 ** 31 - 1 }), { nil: undefined }),
  data: fc.array(datum, { maxLength: 4 }),
  lossFn: fc.string(),
  lossConfig: fc.dictionary(name, fc.oneof(float, fc.string()), { maxKeys: 3, noNullPrototype: true }),
  forwardOnly: fc.boolean(),
});

/** Field sizes of a batch follow from bytes, so a row of no width has no binary form; results have none. */
const output = fc.dictionary(
  name,
  dense.filter(({ shape }) => shape.slice(1).every((width) => width > 0)),
  { maxKeys: 2, noNullPrototype: true },
);

export const forwardBackwardOutput: fc.Arbitrary<ForwardBackwardOutput> = fc.record({
  outputType: fc.stringMatching(/^[a-zA-Z]*$/),
  outputs: fc.array(output, { maxLength: 4 }),
  metrics: fc.dictionary(name, float, { maxKeys: 3, noNullPrototype: true }),
});

export const sampleRequest: fc.Arbitrary<WireSampleRequest> = fc
  .record({
    prompt: fc.array(fc.oneof(chunk, pointerChunk), { maxLength: 3 }),
    numSamples: fc.integer({ min: 1, max: 100 }),
    params: fc
      .record({
        maxTokens: fc.option(fc.nat(), { nil: undefined }),
        seed: fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { nil: undefined }),
        stop: fc.option(
          fc.oneof(
            fc.array(fc.string(), { minLength: 1, maxLength: 3 }).map((texts) => ({ texts })),
            fc.array(int32, { minLength: 1, maxLength: 3 }).map((ids) => ({ tokens: ids })),
          ),
          { nil: undefined },
        ),
        temperature: float,
        topK: int32,
        topP: float,
      })
      .map(present),
    baseModel: fc.option(fc.string(), { nil: undefined }),
    modelPath: fc.option(fc.string(), { nil: undefined }),
    samplingSessionId: fc.option(fc.string(), { nil: undefined }),
    seqId: fc.option(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), { nil: undefined }),
    promptLogprobs: fc.boolean(),
    promptLogprobsLastN: fc.option(fc.nat(), { nil: undefined }),
    topkPromptLogprobs: fc.nat(),
    topkSampleLogprobs: fc.nat(),
    targetPromptLogprobs: fc.option(tensor, { nil: undefined }),
    promptAltTokensK: fc.nat(),
    recordStabilityInfo: fc.boolean(),
  })
  .map((request) => present(request) as WireSampleRequest);

const table: fc.Arbitrary<TopkTable> = fc
  .integer({ min: 1, max: 3 })
  .chain((k) =>
    fc
      .array(fc.array(fc.record({ token: int32, logprob: float }), { minLength: k, maxLength: k }), { maxLength: 4 })
      .map((rows) => topkTable(rows, k)),
  )
  // Without rows the JSON form cannot say how many cells one would have had.
  .filter(({ length }) => length > 0);

export const sampleResponse: fc.Arbitrary<WireSampleResponse> = fc
  .record({
    sequences: fc.array(
      fc.array(int32, { minLength: 1, maxLength: 6 }).chain((ids) =>
        fc
          .record({
            stopReason: fc.constantFrom('stop' as const, 'length' as const),
            tokens: fc.constant(Int32Array.from(ids)),
            logprobs: fc.option(
              fc
                .array(float, { minLength: ids.length, maxLength: ids.length })
                .map((values) => Float32Array.from(values)),
              { nil: undefined },
            ),
            topk: fc.option(table, { nil: undefined }),
          })
          .map(present),
      ),
      { maxLength: 3 },
    ),
    promptLogprobs: fc.option(
      fc.array(fc.oneof(float, fc.constant(NaN)), { maxLength: 5 }).map((values) => Float32Array.from(values)),
      { nil: undefined },
    ),
    topkPromptLogprobs: fc.option(table, { nil: undefined }),
    promptCacheHitTokens: fc.nat(),
    targetPromptLogprobs: fc.option(tensor, { nil: undefined }),
    promptAltTokens: fc.option(fc.record({ tokens: tensor, logprobs: tensor }), { nil: undefined }),
  })
  .map((response) => present(response) as WireSampleResponse);
