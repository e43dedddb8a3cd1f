// A folder, or a file, that appears whole or not at all: written under another name beside its place, then renamed.
// What is already there is kept unless the caller asks for its replacement; what is written is the caller's business.

import { randomUUID } from 'node:crypto';
import { lstat, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { TabwrightError } from '../../core/index.ts';
import { makeFolder } from '../../util/index.ts';

export type OutputOptions = {
  readonly path: string;
  /** Whether what is there may be replaced. Default false: it is refused. */
  readonly overwrite?: boolean;
};

/** `write` fills the folder it is given, which takes its place at `path` when that is done. */
export async function writeOutputFolder(
  options: OutputOptions,
  write: (folder: string) => Promise<void>,
): Promise<void> {
  await writeOutput(options, async (temporary) => {
    await makeFolder(temporary);
    await write(temporary);
  });
}

/** `write` makes the file it is given the name of, which takes its place at `path` when that is done. */
export async function writeOutputFile(options: OutputOptions, write: (file: string) => Promise<void>): Promise<void> {
  await writeOutput(options, write);
}

async function writeOutput(
  { path: given, overwrite = false }: OutputOptions,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const path = resolve(given);
  if (!overwrite && (await exists(path))) {
    const message = `${path} exists already; give another place, or ask for it to be replaced.`;
    throw new TabwrightError('store', message, { code: 'output-exists', details: { path } });
  }
  const name = `.${basename(path)}.${randomUUID()}`;
  const temporary = join(dirname(path), `${name}.partial`);
  try {
    await makeFolder(dirname(path));
    await write(temporary);
    if (await exists(path)) {
      const aside = join(dirname(path), `${name}.replaced`);
      await rename(path, aside);
      await rename(temporary, path);
      await rm(aside, { recursive: true, force: true });
    } else await rename(temporary, path);
  } catch (error) {
    // What went wrong first is what the caller must hear, not a second failure of tidying up.
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw asStoreError(error, path);
  }
}

function asStoreError(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const isSystemError = code !== undefined && error instanceof Error && 'syscall' in error;
  if (!isSystemError) return error;
  return new TabwrightError('store', `${path} could not be written (${code}); check free space and permissions.`, {
    code: code === 'ENOSPC' ? 'disk-full' : 'output-not-written',
    details: { path, reason: code },
    cause: error,
  });
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false, // whoever writes there then hears why
  );
}
