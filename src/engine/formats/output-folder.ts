// A folder, or a file, that appears whole or not at all: written under another name beside its place, then renamed.
// What is already there is kept unless the caller asks for its replacement and it is an earlier output of the same kind
// (`output-place.ts`); what is written is the caller's business.

import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { TabwrightError } from '../../core/index.ts';
import { makeFolder } from '../../util/index.ts';
import { checkPlace, type OutputKind } from './output-place.ts';

export type OutputOptions = {
  readonly path: string;
  /** Whether what is there may be replaced. Default false: it is refused. */
  readonly overwrite?: boolean;
  /** What is written, and all that may be replaced by it. */
  readonly kind: OutputKind;
  /** Files and folders that it is made of: the place may neither hold them nor lie in them. */
  readonly reads?: readonly string[];
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
  { path: given, overwrite = false, kind, reads = [] }: OutputOptions,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const path = resolve(given);
  const place = { path, overwrite, kind, reads };
  const name = `.${basename(path)}.${randomUUID()}`;
  const temporary = join(dirname(path), `${name}.partial`);
  try {
    await checkPlace(place);
    await makeFolder(dirname(path));
    await write(temporary);
    // Looked at again: writing takes long, and somebody may have put something there.
    if (await checkPlace(place)) await replace(path, temporary, join(dirname(path), `${name}.replaced`));
    else await rename(temporary, path);
  } catch (error) {
    // What went wrong first is what the caller must hear, not a second failure of tidying up.
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw asStoreError(error, path);
  }
}

async function replace(path: string, by: string, aside: string): Promise<void> {
  await rename(path, aside);
  try {
    await rename(by, path);
  } catch (error) {
    await rename(aside, path);
    throw error;
  }
  await rm(aside, { recursive: true, force: true });
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
