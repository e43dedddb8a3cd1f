// The sizes that a cell and its answer may have. Both sides read this file: the cell keeps to them, the host refuses
// what does not.

const KIB = 1024;
const MIB = 1024 * KIB;

export const LIMITS = {
  /** UTF-8 bytes of one cell's code. */
  codeBytes: 8 * MIB,
  /** UTF-8 bytes of all text items of one answer. */
  textBytes: 256 * KIB,
  errorBytes: 64 * KIB,
  stackBytes: 256 * KIB,
  imageBytes: 8 * MIB,
  /** Bytes of all images of one answer. */
  imagesBytes: 16 * MIB,
  items: 10_000,
  /** Items kept of what is produced while no cell runs. */
  strayItems: 1_000,
  /** UTF-8 bytes of one command that comes by `CDP_ENDPOINT`. */
  cdpCommandBytes: 8 * MIB,
  /** Connections to `CDP_ENDPOINT` at one time. */
  cdpConnections: 8,
  /** Bytes of one frame from the cell to the host. */
  frameBytes: 48 * MIB,
} as const;

/** The start of `text` that fits `bytes` bytes of UTF-8, cut between characters. */
export function truncateToBytes(text: string, bytes: number): string {
  // A UTF-16 unit takes at most three bytes, so most texts need no encoding.
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  const encoded = Buffer.from(text.slice(0, bytes));
  let end = Math.min(bytes, encoded.length);
  while (end > 0 && (encoded[end] & 0xc0) === 0x80) end--; // a continuation byte: its character began before the cut
  return encoded.toString('utf8', 0, end);
}
