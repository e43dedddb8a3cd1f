// What GGUF numbers mean: element types of tensors with their block sizes, and types of metadata values. Data only.
// Source: ggml's gguf.md ("File Structure") and ggml.h (`enum ggml_type`), ggml-common.h for the blocks.

/** "GGUF", little-endian. */
export const GGUF_MAGIC = 0x46554747;

/** Of tensors' data, in bytes, where a file does not say. */
export const DEFAULT_ALIGNMENT = 32;

export type GgmlType = {
  readonly name: string;
  /** Elements of one block. */
  readonly elements: number;
  /** Bytes of one block. */
  readonly bytes: number;
};

const type = (name: string, elements: number, bytes: number): GgmlType => ({ name, elements, bytes });

/** Types that are read here, by their number in files. */
export const READABLE_TYPES: ReadonlyMap<number, GgmlType> = new Map([
  [0, type('F32', 1, 4)],
  [1, type('F16', 1, 2)],
  [2, type('Q4_0', 32, 18)],
  [3, type('Q4_1', 32, 20)],
  [6, type('Q5_0', 32, 22)],
  [7, type('Q5_1', 32, 24)],
  [8, type('Q8_0', 32, 34)],
  [12, type('Q4_K', 256, 144)],
  [13, type('Q5_K', 256, 176)],
  [14, type('Q6_K', 256, 210)],
  [30, type('BF16', 1, 2)],
]);

/** Names of the others, to refuse them by. */
const OTHER_TYPES: ReadonlyMap<number, string> = new Map([
  [9, 'Q8_1'],
  [10, 'Q2_K'],
  [11, 'Q3_K'],
  [15, 'Q8_K'],
  [16, 'IQ2_XXS'],
  [17, 'IQ2_XS'],
  [18, 'IQ3_XXS'],
  [19, 'IQ1_S'],
  [20, 'IQ4_NL'],
  [21, 'IQ3_S'],
  [22, 'IQ2_S'],
  [23, 'IQ4_XS'],
  [24, 'I8'],
  [25, 'I16'],
  [26, 'I32'],
  [27, 'I64'],
  [28, 'F64'],
  [29, 'IQ1_M'],
  [34, 'TQ1_0'],
  [35, 'TQ2_0'],
  [39, 'MXFP4'],
]);

export function ggmlTypeName(number: number): string {
  return READABLE_TYPES.get(number)?.name ?? OTHER_TYPES.get(number) ?? `number ${number}`;
}

/** Number in files of a type that is written here. */
export const WRITTEN_TYPES = { F32: 0, F16: 1, Q8_0: 8 } as const;
export type WrittenType = keyof typeof WRITTEN_TYPES;

/** Types of metadata values, in the order of their numbers. */
export const VALUE_TYPES = [
  'uint8',
  'int8',
  'uint16',
  'int16',
  'uint32',
  'int32',
  'float32',
  'bool',
  'string',
  'array',
  'uint64',
  'int64',
  'float64',
] as const;
export type GgufValueType = (typeof VALUE_TYPES)[number];

export type GgufScalar = number | bigint | boolean | string;
/** Bytes of the values that have a fixed number of them. */
export const SCALAR_BYTES: Readonly<Record<Exclude<GgufValueType, 'string' | 'array'>, number>> = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float32: 4,
  bool: 1,
  uint64: 8,
  int64: 8,
  float64: 8,
};

/** 64-bit integers are numbers where those hold them. */
export type GgufValue = GgufScalar | readonly GgufValue[];

export type GgufEntry =
  | { readonly type: Exclude<GgufValueType, 'array'>; readonly value: GgufScalar }
  | { readonly type: 'array'; readonly element: GgufValueType; readonly value: readonly GgufValue[] };

export type GgufMetadata = ReadonlyMap<string, GgufEntry>;

export type GgufTensor = {
  readonly name: string;
  /** Outermost first; files have it the other way round. */
  readonly shape: readonly number[];
  /** Number of the element type in files. */
  readonly type: number;
  /** First byte, counted from the beginning of the data. */
  readonly offset: number;
};
