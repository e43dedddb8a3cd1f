// Opening zstd bodies within bounds. A frame's block headers are looked over first, since what a frame claims and what
// it holds may differ by orders of magnitude and the decompressor believes it.
// Source: RFC 8878, sections 3.1.1 and 3.1.2.

import { Decompress, decompress } from 'fzstd';
import { malformed, tooLarge } from './wire-error.ts';

const MAGIC = 0xfd2fb528;
/** Blocks are up to 128 KiB; many more of them than the size asks for is an attack on time. */
const MAX_BLOCKS = 65_536;
/** Without a content size the decompressor moves its window once a block; bytes moved in all. */
const MAX_MOVED_BYTES = 2 ** 34;

/** `what` names the body in errors. */
export function openZstd(bytes: Uint8Array, maxBytes: number, what = 'decompressed bytes of a body'): Uint8Array {
  const frame = readFrame(bytes, maxBytes, what);
  try {
    if (frame.contentSize !== undefined) return decompress(bytes, new Uint8Array(frame.contentSize));
    if (frame.windowSize * frame.blocks > MAX_MOVED_BYTES) throw tooLarge(what, frame.blocks, MAX_BLOCKS);
    return stream(bytes, maxBytes, what);
  } catch (error) {
    if (error instanceof Error && error.name !== 'TabwrightError') throw malformed('a zstd body', 'it is damaged');
    throw error;
  }
}

function stream(bytes: Uint8Array, maxBytes: number, what: string): Uint8Array {
  const parts: Uint8Array[] = [];
  let size = 0;
  const decompressor = new Decompress((part) => {
    size += part.length;
    if (size > maxBytes) throw tooLarge(what, size, maxBytes);
    parts.push(part);
  });
  decompressor.push(bytes, true);
  return new Uint8Array(Buffer.concat(parts));
}

type Frame = { readonly contentSize: number | undefined; readonly windowSize: number; readonly blocks: number };

function readFrame(bytes: Uint8Array, maxBytes: number, what: string): Frame {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const damaged = (problem: string): Error => malformed('a zstd body', problem);
  if (bytes.length < 9 || view.getUint32(0, true) !== MAGIC) throw damaged('it does not begin as a frame does');
  const descriptor = bytes[4];
  const singleSegment = (descriptor & 0x20) !== 0;
  if ((descriptor & 3) !== 0) throw damaged('it needs a dictionary');
  let at = singleSegment ? 5 : 6;
  const sizeBytes = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6];
  if (at + sizeBytes > bytes.length) throw damaged('it ends in its header');
  const contentSize = contentSizeAt(view, at, sizeBytes);
  at += sizeBytes;
  const exponent = 10 + (bytes[5] >> 3);
  const windowSize = singleSegment ? contentSize! : 2 ** exponent + 2 ** (exponent - 3) * (bytes[5] & 7);
  if ((contentSize ?? 0) > maxBytes) throw tooLarge(what, contentSize!, maxBytes);
  // Encoders choose a window of up to 8 MiB for what they do not know the size of; the format says that readers need no more.
  if (windowSize > Math.max(maxBytes, 2 ** 23)) throw tooLarge('window of a zstd body', windowSize, maxBytes);

  let blocks = 0;
  let plain = 0;
  for (let last = false; !last;) {
    if (at + 3 > bytes.length) throw damaged('it ends before its last block');
    const header = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
    last = (header & 1) !== 0;
    const kind = (header >> 1) & 3;
    const size = header >> 3;
    if (kind === 3) throw damaged('a block of a reserved kind');
    if (size > 131_072) throw damaged('a block of more than 128 KiB');
    if (++blocks > MAX_BLOCKS) throw tooLarge('blocks of a zstd body', blocks, MAX_BLOCKS);
    if (kind !== 2 && (plain += size) > maxBytes) throw tooLarge(what, plain, maxBytes);
    at += 3 + (kind === 1 ? 1 : size);
  }
  const checksum = (descriptor & 4) !== 0 ? 4 : 0;
  if (at + checksum !== bytes.length) throw damaged('it is not one whole frame');
  return { contentSize, windowSize, blocks };
}

function contentSizeAt(view: DataView, at: number, sizeBytes: number): number | undefined {
  switch (sizeBytes) {
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, true) + 256;
    case 4:
      return view.getUint32(at, true);
    case 8:
      return Number(view.getBigUint64(at, true));
    default:
      return undefined;
  }
}
