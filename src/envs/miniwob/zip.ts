// Reads the files of a ZIP archive held in memory; Python wheels are such archives. Stored and deflated entries only; no
// encryption, no archives above 4 GiB.
// Source: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT 4.3

import { inflateRawSync } from 'node:zlib';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const LONGEST_COMMENT = 65_535;

/** Content by path, for the paths that `wanted` says yes to. Throws `RangeError` on what is not such an archive. */
export function readZip(archive: Buffer, wanted: (path: string) => boolean): Map<string, Buffer> {
  const end = findEnd(archive);
  const entries = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  const files = new Map<string, Buffer>();
  for (let entry = 0; entry < entries; entry++) {
    if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new RangeError(`no directory entry at byte ${at}`);
    const method = archive.readUInt16LE(at + 10);
    const packedBytes = archive.readUInt32LE(at + 20);
    const bytes = archive.readUInt32LE(at + 24);
    const nameLength = archive.readUInt16LE(at + 28);
    const offset = archive.readUInt32LE(at + 42);
    const path = archive.toString('utf8', at + 46, at + 46 + nameLength);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    if (path.endsWith('/') || !wanted(path)) continue;
    const packed = contentAt(archive, offset, packedBytes);
    const content = unpack(packed, method, path);
    if (content.length !== bytes) throw new RangeError(`${path} has ${content.length} bytes, not ${bytes}`);
    files.set(path, content);
  }
  return files;
}

function findEnd(archive: Buffer): number {
  const last = archive.length - 22;
  for (let at = last; at >= Math.max(0, last - LONGEST_COMMENT); at--) {
    if (archive.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  throw new RangeError('no end of a ZIP directory: not a ZIP archive, or one that is cut off');
}

/** The local header may have another extra field than the directory, so its own lengths count. */
function contentAt(archive: Buffer, offset: number, packedBytes: number): Buffer {
  if (archive.readUInt32LE(offset) !== LOCAL_HEADER) throw new RangeError(`no file at byte ${offset}`);
  const start = offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
  return archive.subarray(start, start + packedBytes);
}

function unpack(packed: Buffer, method: number, path: string): Buffer {
  if (method === 0) return packed;
  if (method === 8) return inflateRawSync(packed);
  throw new RangeError(`${path} is packed by method ${method}; only stored and deflated files are read`);
}
