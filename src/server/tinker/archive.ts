// A folder of files as a gzipped tar, written as it is read: no copy of it is made, on the disk or in memory.

import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

/** Files only, no folders in it. */
export async function archiveOf(folder: string): Promise<Readable> {
  const names = (await readdir(folder)).sort();
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  const tar = pack();
  const gzip = createGzip({ level: 1 });
  const write = async (): Promise<void> => {
    for (const [i, name] of names.entries()) {
      await pipeline(createReadStream(join(folder, name)), tar.entry({ name, size: sizes[i] }));
    }
    tar.finalize();
  };
  write().catch((error: unknown) => tar.destroy(error as Error));
  pipeline(tar, gzip).catch((error: unknown) => gzip.destroy(error as Error)); // whoever reads it hears of it
  return gzip;
}
