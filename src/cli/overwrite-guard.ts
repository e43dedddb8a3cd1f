// `--overwrite` deletes a run before a new one is written. It must not delete what the command has just read.

import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { TabwrightError } from '../core/index.ts';

/** Refuses when a folder that was read is `out` or lies inside it, by whatever name. Names of no folder pass. */
export async function checkOverwrite(out: string, read: readonly (string | undefined)[]): Promise<void> {
  const target = await real(out);
  if (target === undefined) return;
  for (const name of read) {
    const source = name === undefined ? undefined : await real(name);
    if (source === undefined || !join(source, sep).startsWith(join(target, sep))) continue;
    throw new TabwrightError(
      'config',
      `--overwrite would delete ${name}, which this command reads, with the run in ${out}; choose another --out.`,
      { code: 'overwrite-of-input', details: { out, read: name! } },
    );
  }
}

function real(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined); // whoever opens it says what is wrong
}
