// Bounds of a decoder: how much a message may weigh and how many parts it may have. A message of a few megabytes could
// otherwise stand for gigabytes of objects. Data only.

export type DecodeLimits = {
  /** Bytes of the message as it is decoded, after decompression. */
  readonly maxBytes: number;
  /** Messages, map entries, containers and repeated scalars, all together. */
  readonly maxParts: number;
  /** Elements of one tensor after a sparse one is written out. */
  readonly maxElements: number;
  /** Containers inside each other, JSON only. */
  readonly maxDepth: number;
};

export const DEFAULT_LIMITS: DecodeLimits = {
  maxBytes: 128 * 2 ** 20,
  maxParts: 1_000_000,
  maxElements: 32_000_000,
  maxDepth: 64,
};
