// The data plane in one typed model: training rows, tensors, requests for samples and their results. Codecs turn it
// into JSON and protobuf and back; nothing else in the project knows either form. Types only.
// Source: the SDK's types (Datum, TensorData, SampleRequest) and the descriptor of tinker_public.proto.

export type TensorDtype = 'float32' | 'int64';

/**
 * Numbers with a shape, row after row. `int64` values are held as doubles: ids and indices, exact to 2^53, refused beyond.
 * With `sparse` it is a matrix in CSR form and `values` are its stored entries.
 */
export type Tensor = {
  readonly dtype: TensorDtype;
  readonly shape: readonly number[];
  readonly values: Float32Array | Float64Array;
  readonly sparse?: {
    /** Start of each row in `values`, and the end: rows + 1 entries. */
    readonly rowStarts: Float64Array;
    /** Column of each entry. */
    readonly columns: Float64Array;
  };
};

export type TensorMap = Readonly<Record<string, Tensor>>;

export type ImageFormat = 'png' | 'jpeg';

export type Chunk =
  | { readonly kind: 'text'; readonly tokens: Int32Array }
  | {
      readonly kind: 'image';
      readonly data: Uint8Array;
      readonly format: ImageFormat;
      /** Positions that the image takes in the model's input. */
      readonly expectedTokens?: number;
    }
  /** An image that the server already has. JSON only. */
  | {
      readonly kind: 'image-pointer';
      readonly location: string;
      readonly format: ImageFormat;
      readonly expectedTokens?: number;
    }
  /** Sound, opaque here. */
  | { readonly kind: 'dmel'; readonly data: Uint8Array };

export type ModelInput = readonly Chunk[];

/** Where a stretch of tokens comes from. */
export type ProvenanceSpan = {
  readonly kind: 'prompt' | 'sampled';
  readonly sequenceId: string;
  readonly offset: number;
  readonly length: number;
};

export type WireDatum = {
  readonly modelInput: ModelInput;
  readonly lossInputs: TensorMap;
  readonly modelInputSpans?: readonly ProvenanceSpan[];
  readonly lossInputSpans?: readonly ProvenanceSpan[];
};

export type ForwardBackwardRequest = {
  readonly modelId: string;
  /** From 1 on, of the model; undefined where none was sent. */
  readonly seqId: number | undefined;
  readonly data: readonly WireDatum[];
  readonly lossFn: string;
  readonly lossConfig: Readonly<Record<string, number | string>>;
  /** Without gradients. */
  readonly forwardOnly: boolean;
};

export type ForwardBackwardOutput = {
  readonly outputType: string;
  /** One a datum, in order; `logprobs` always. */
  readonly outputs: readonly TensorMap[];
  /** Names are `name:reduction`, which clients rely on. */
  readonly metrics: Readonly<Record<string, number>>;
};

export type WireSamplingParams = {
  /** Absent: up to the end of the context. */
  readonly maxTokens?: number;
  /** 64 bits, exact. */
  readonly seed?: bigint;
  /** Texts or token ids; an empty list asks for no stop at all. */
  readonly stop?: { readonly texts: readonly string[] } | { readonly tokens: readonly number[] };
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
};

export type WireSampleRequest = {
  readonly prompt: ModelInput;
  readonly numSamples: number;
  readonly params: WireSamplingParams;
  readonly baseModel?: string;
  readonly modelPath?: string;
  readonly samplingSessionId?: string;
  /** Of the sampling session, from 0; cloned clients go far beyond 2^53. */
  readonly seqId?: bigint;
  readonly promptLogprobs: boolean;
  /** Only the last N of `promptLogprobs`, NaN before. */
  readonly promptLogprobsLastN?: number;
  readonly topkPromptLogprobs: number;
  readonly topkSampleLogprobs: number;
  /** int64 [prompt - 1, K]; -1 is nothing. */
  readonly targetPromptLogprobs?: Tensor;
  readonly promptAltTokensK: number;
  readonly recordStabilityInfo: boolean;
};

/** `length` rows of `k` cells, most likely first. An empty cell is token 0 with log-probability -99999. */
export type TopkTable = {
  readonly k: number;
  readonly length: number;
  readonly tokens: Int32Array;
  readonly logprobs: Float32Array;
};

export type WireSequence = {
  readonly stopReason: 'stop' | 'length';
  readonly tokens: Int32Array;
  readonly logprobs?: Float32Array;
  readonly topk?: TopkTable;
};

export type WireSampleResponse = {
  readonly sequences: readonly WireSequence[];
  /** As long as the prompt; NaN where there is none, as at the first. */
  readonly promptLogprobs?: Float32Array;
  readonly topkPromptLogprobs?: TopkTable;
  readonly promptCacheHitTokens: number;
  /** As the request's targets. */
  readonly targetPromptLogprobs?: Tensor;
  readonly promptAltTokens?: { readonly tokens: Tensor; readonly logprobs: Tensor };
};
