// A Tinker checkpoint archive (a tar, mostly gzipped, of a PEFT folder) to that folder. An archive is a stranger's: only
// plain files with the names that are looked for are unpacked, and links, paths and sizes that mean harm are refused.

import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { TabwrightError } from '../../core/index.ts';
import { linkedController } from '../../util/index.ts';
import { openFile } from './gguf-header.ts';
import { writeOutputFolder } from './output-folder.ts';
import { PEFT_FOLDER } from './output-place.ts';
import { PEFT_CONFIG_FILE, PEFT_WEIGHTS_FILE, readPeftAdapter } from './peft-adapter.ts';

export type ArchiveOptions = {
  /** A .tar or .tar.gz. */
  readonly archive: string;
  /** The PEFT folder to make. */
  readonly path: string;
  readonly overwrite?: boolean;
  /** Bytes of all unpacked files. Default 16 GiB. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
};

const MAX_CONFIG_BYTES = 1 << 20;
const MAX_ENTRIES = 1000;
const DEFAULT_MAX_BYTES = 16 * 2 ** 30;

/** Unpacks and checks the adapter; the folder appears only if it is one. */
export async function unpackAdapterArchive(options: ArchiveOptions): Promise<void> {
  const { archive, path, overwrite, signal } = options;
  const gzipped = await isGzip(archive);
  await writeOutputFolder({ path, overwrite, reads: [archive], kind: PEFT_FOLDER }, async (folder) => {
    const unpack = extract();
    const found = new Set<string>();
    const collect = async (): Promise<void> => {
      let entries = 0;
      let left = options.maxBytes ?? DEFAULT_MAX_BYTES;
      for await (const entry of unpack) {
        const { header } = entry;
        if (++entries > MAX_ENTRIES) throw refuse(archive, `it has more than ${MAX_ENTRIES} entries`);
        const name = checkedName(header, archive);
        const limit = name === PEFT_CONFIG_FILE ? Math.min(left, MAX_CONFIG_BYTES) : left;
        if (!Number.isSafeInteger(header.size ?? 0) || (header.size ?? 0) > limit) {
          throw refuse(archive, `"${header.name}" has ${header.size} bytes, more than ${limit}`);
        }
        left -= header.size ?? 0;
        if (name === undefined) {
          entry.resume();
          continue;
        }
        if (found.has(name)) throw refuse(archive, `it has two files ${name}`);
        found.add(name);
        // Its own type does not say that it can be iterated over.
        await writeFile(join(folder, name), entry as unknown as AsyncIterable<Uint8Array>, { flush: true });
      }
    };
    // The announced sizes bound what is written; this bounds what is decompressed to get there.
    let room = (options.maxBytes ?? DEFAULT_MAX_BYTES) + MAX_ENTRIES * 4096;
    const bounded = async function* (parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const part of parts) {
        room -= part.length;
        if (room < 0) throw refuse(archive, 'it unpacks to more than the largest adapter that is taken');
        yield part;
      }
    };
    // Ends the reading when the unpacking fails, which tar-stream's streams do not tell Node's pipeline.
    const { controller, unlink } = linkedController(signal);
    const ending = { signal: controller.signal };
    const reading = gzipped
      ? pipeline(createReadStream(archive), createGunzip(), bounded, unpack, ending)
      : pipeline(createReadStream(archive), bounded, unpack, ending);
    try {
      await Promise.all([reading, collect()]);
    } catch (error) {
      signal?.throwIfAborted();
      controller.abort();
      await reading.catch(() => undefined); // it ends because the unpacking did; that error is the one to tell
      if (error instanceof TabwrightError || (error instanceof Error && 'syscall' in error)) throw error;
      throw refuse(
        archive,
        `it is damaged or no tar (${error instanceof Error ? error.message : String(error)})`,
        error,
      );
    } finally {
      unlink();
    }
    for (const name of [PEFT_CONFIG_FILE, PEFT_WEIGHTS_FILE]) {
      if (!found.has(name)) throw refuse(archive, `it has no ${name}`);
    }
    await readPeftAdapter(folder);
  });
}

type EntryHead = { readonly name: string; readonly type?: string | null | undefined };

/** The file that an entry is to become; undefined for one that is of no interest. */
function checkedName({ name, type }: EntryHead, archive: string): string | undefined {
  const parts = name.split(/[/\\]/);
  if (name.startsWith('/') || /^[a-z]:/i.test(name) || name.includes('\\') || parts.includes('..')) {
    throw refuse(archive, `the entry "${name}" leads out of its folder`);
  }
  if (type === 'directory') return undefined;
  if (type !== 'file' && type !== 'contiguous-file') {
    throw refuse(archive, `the entry "${name}" is a ${type ?? 'thing'}, not a plain file`);
  }
  const base = parts.at(-1);
  // The files may lie in one folder, as whoever packed it has called it.
  const plain = parts.filter((part) => part !== '' && part !== '.');
  return plain.length <= 2 && (base === PEFT_CONFIG_FILE || base === PEFT_WEIGHTS_FILE) ? base : undefined;
}

async function isGzip(archive: string): Promise<boolean> {
  const file = await openFile(archive);
  try {
    const start = new Uint8Array(2);
    await file.read(start, 0, 2, 0);
    return start[0] === 0x1f && start[1] === 0x8b;
  } finally {
    await file.close();
  }
}

function refuse(archive: string, why: string, cause?: unknown): TabwrightError {
  return new TabwrightError('store', `${archive} is not taken: ${why}.`, {
    code: 'bad-archive',
    details: { archive },
    cause,
  });
}
