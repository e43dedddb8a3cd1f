// Frames of zstd made by hand, since Node 20 has no compressor: as the format allows them (RFC 8878), not small.

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/** The bytes as they are, in raw blocks. */
export function zstdFrame(bytes: Uint8Array): Uint8Array {
  const blocks: Uint8Array[] = [];
  const size = 128 * 1024;
  for (let at = 0; at === 0 || at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    blocks.push(blockHeader(part.length, 0, at + size >= bytes.length), part);
  }
  return frame(bytes.length, blocks);
}

/** A few bytes that stand for `size` zeros: blocks that repeat one byte. */
export function zstdBomb(size: number): Uint8Array {
  const block = 128 * 1024;
  const count = Math.ceil(size / block);
  const blocks = Array.from({ length: count }, (_, i) => [blockHeader(block, 1, i === count - 1), Uint8Array.of(0)]);
  return frame(count * block, blocks.flat());
}

function frame(contentSize: number, blocks: readonly Uint8Array[]): Uint8Array {
  const header = new Uint8Array(9);
  header[0] = 0xa0; // single segment, content size of 4 bytes
  new DataView(header.buffer).setUint32(1, contentSize, true);
  return new Uint8Array(Buffer.concat([Uint8Array.from(MAGIC), header.subarray(0, 5), ...blocks]));
}

function blockHeader(size: number, type: 0 | 1, last: boolean): Uint8Array {
  const value = (size << 3) | (type << 1) | (last ? 1 : 0);
  return Uint8Array.of(value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff);
}
