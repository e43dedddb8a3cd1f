// Makes a folder and those above it. Node's own recursive `mkdir` goes round in circles for ever where the system
// answers ENOENT under a folder that exists (on Linux anywhere in /proc; Node 20), so this asks each folder once.

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A folder that exists is as good. Rejects with the system's error for the first folder that cannot be made. */
export async function makeFolder(path: string): Promise<void> {
  const failure = await tryMake(path);
  if (failure === undefined) return;
  const parent = dirname(path);
  if (failure.code !== 'ENOENT' || parent === path) throw failure;
  await makeFolder(parent);
  const again = await tryMake(path);
  if (again !== undefined) throw again;
}

/** Gives the error, unless the folder is there. */
async function tryMake(path: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path);
    return undefined;
  } catch (error) {
    const isFolder = await stat(path).then(
      (entry) => entry.isDirectory(),
      () => false, // what mkdir said is the better reason
    );
    return isFolder ? undefined : (error as NodeJS.ErrnoException);
  }
}
