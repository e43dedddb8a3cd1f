// One writer per run folder: a file that names the writing process. The lock of a process that is dead is taken
// over. It protects against a second process started by mistake, not against an adversary.

import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { TabwrightError } from '../core/index.ts';
import { isProcessAlive } from '../util/index.ts';
import { readIfPresent } from './json-lines.ts';
import { systemCode, withStoreErrors } from './store-error.ts';

export const LOCK_FILE = 'run.lock';

const ownerSchema = z.object({ pid: z.int().positive(), host: z.string(), token: z.string() });

/** Held until disposed; disposing a lock that another process has taken over leaves theirs alone. */
export async function lockRun(dir: string): Promise<AsyncDisposable> {
  const path = join(dir, LOCK_FILE);
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), token: randomUUID() });
  return withStoreErrors({ doing: 'lock', path }, async () => {
    if (!(await tryCreate(path, mine))) {
      await removeStale(path, dir);
      if (!(await tryCreate(path, mine))) throw inUse(dir, path, 'another process');
    }
    return {
      [Symbol.asyncDispose]: () =>
        withStoreErrors({ doing: 'remove', path }, async () => {
          if ((await readIfPresent(path))?.toString() === mine) await rm(path);
        }),
    };
  });
}

async function tryCreate(path: string, content: string): Promise<boolean> {
  // Written aside and linked into place: nobody ever sees a lock without an owner in it.
  const aside = `${path}.${randomUUID()}`;
  await writeFile(aside, content);
  try {
    await link(aside, path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function removeStale(path: string, dir: string): Promise<void> {
  const content = (await readIfPresent(path))?.toString();
  if (content === undefined) return;
  const owner = readOwner(content);
  if (owner === undefined) throw inUse(dir, path, 'an unknown process (its lock cannot be read)');
  if (owner.host !== hostname()) throw inUse(dir, path, `process ${owner.pid} on ${owner.host}`);
  if (isProcessAlive(owner.pid)) throw inUse(dir, path, `process ${owner.pid}`);
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return; // Someone else is taking it over; the next create decides.
    throw error;
  }
  // Between the look and the rename another process may have taken over: then this is its lock, and it goes back.
  if ((await readFile(aside, 'utf8')) !== content) {
    await link(aside, path);
    await rm(aside);
    throw inUse(dir, path, 'another process');
  }
  await rm(aside);
}

function readOwner(content: string): z.infer<typeof ownerSchema> | undefined {
  try {
    return ownerSchema.parse(JSON.parse(content));
  } catch {
    return undefined; // The caller refuses: who holds it is unknown.
  }
}

function inUse(dir: string, path: string, owner: string): TabwrightError {
  return new TabwrightError(
    'store',
    `The run folder ${dir} is being written by ${owner}. Wait for it, choose another folder with --out, or delete ${path} if you are sure that it is gone.`,
    { code: 'run-in-use', details: { dir, owner } },
  );
}
