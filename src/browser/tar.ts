// Reads the regular files of a tar archive held in memory. Enough for the archives of bundled.ts: no links, no long
// names (both are refused), no writing.
// Source: POSIX.1-1988 ustar header layout.

const BLOCK = 512;

export type TarFile = { readonly name: string; readonly data: Buffer };

export function* tarFiles(archive: Buffer): Generator<TarFile> {
  for (let offset = 0; offset + BLOCK <= archive.length;) {
    const header = archive.subarray(offset, offset + BLOCK);
    if (header[0] === 0) return; // the end is marked by empty blocks
    const name = text(header, 0, 100);
    const size = Number.parseInt(text(header, 124, 12), 8);
    const type = text(header, 156, 1);
    if (name === '' || name.startsWith('/') || name.split('/').includes('..') || !Number.isInteger(size)) {
      throw new Error(`unsafe or broken tar entry "${name}"`);
    }
    const start = offset + BLOCK;
    if (type === '0' || type === '') yield { name, data: archive.subarray(start, start + size) };
    else if (type !== '5') throw new Error(`tar entry "${name}" has the unsupported type "${type}"`);
    offset = start + Math.ceil(size / BLOCK) * BLOCK;
  }
}

/** A NUL-terminated field. */
function text(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field
    .subarray(0, end === -1 ? length : end)
    .toString('latin1')
    .trim();
}
