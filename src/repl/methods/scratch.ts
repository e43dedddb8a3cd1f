// The session's scratch folder, which the host, the cell and the browser share. A path is written as the cell and the
// browser see it; the host finds the file under a folder of its own. The cell may have put links anywhere in it, so the
// host follows none: every step of a path is opened as a folder that is not a link, from the one before it.

import { constants, type Stats } from 'node:fs';
import { open, realpath, type FileHandle } from 'node:fs/promises';
import { platform } from 'node:process';
import { join, posix, relative, sep } from 'node:path';
import { helperFailed } from './failures.ts';

export type ScratchOptions = {
  /** Where the cell and the browser see the folder, e.g. `/tmp`. */
  readonly inside: string;
  /** Where it is on the host. The same as `inside` when nothing is jailed. */
  readonly host: string;
};

export interface Scratch {
  readonly inside: string;
  readonly contains: (path: string) => boolean;
  /** Writes a file anew; a path that is not absolute starts at the folder. Returns the path as the cell sees it. */
  write(helper: string, path: string, data: Uint8Array): Promise<string>;
  /** The path as the browser sees it, of a regular file that exists. */
  existing(helper: string, path: string): Promise<string>;
  /** Lets all programs of the session write into a folder that one of them has made for itself. */
  share(helper: string, path: string): Promise<void>;
}

export function createScratch({ inside, host }: ScratchOptions): Scratch {
  const absolute = (path: string): string => posix.resolve(inside, path);
  const contains = (path: string): boolean => {
    const full = absolute(path);
    return !path.includes('\0') && full.startsWith(inside.endsWith('/') ? inside : `${inside}/`);
  };

  const openInside = async (helper: string, path: string, flags: number): Promise<FileHandle> => {
    if (!contains(path)) throw helperFailed(helper, `${JSON.stringify(path)} is not in the scratch folder ${inside}`);
    const steps = posix.relative(inside, absolute(path)).split('/');
    try {
      return await openWithoutLinks(host, steps, flags);
    } catch (error) {
      throw helperFailed(helper, `${JSON.stringify(path)} cannot be opened: ${reasonOf(error)}`, error);
    }
  };

  return {
    inside,
    contains,
    async write(helper, path, data) {
      const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK } = constants;
      await using file = await openInside(helper, path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK);
      await requireFile(helper, path, file);
      await file.writeFile(data);
      return absolute(path);
    },
    async existing(helper, path) {
      await using file = await openInside(helper, path, constants.O_RDONLY | constants.O_NONBLOCK);
      await requireFile(helper, path, file);
      return absolute(path);
    },
    async share(helper, path) {
      await using folder = await openInside(helper, path, constants.O_RDONLY | constants.O_DIRECTORY);
      // The session's programs have users of their own and this group in common.
      await folder.chmod(((await folder.stat()).mode & 0o7777) | 0o070);
    },
  };
}

async function requireFile(helper: string, path: string, file: FileHandle): Promise<void> {
  const stats: Stats = await file.stat();
  if (!stats.isFile()) throw helperFailed(helper, `${JSON.stringify(path)} is not a file`);
}

async function openWithoutLinks(root: string, steps: readonly string[], flags: number): Promise<FileHandle> {
  const { O_NOFOLLOW, O_DIRECTORY, O_RDONLY } = constants;
  const last = steps.at(-1)!;
  if (platform !== 'linux') {
    // No way here to open one step from another; a race is possible, and only where there is no jail either.
    const folder = await realpath(join(root, ...steps.slice(0, -1)));
    const within = relative(await realpath(root), folder);
    if (within === '..' || within.startsWith(`..${sep}`)) throw new Error('it leads out of the scratch folder');
    return open(join(folder, last), flags | O_NOFOLLOW, 0o644);
  }
  let folder = await open(root, O_RDONLY | O_DIRECTORY);
  try {
    for (const step of steps.slice(0, -1)) {
      const next = await open(`/proc/self/fd/${folder.fd}/${step}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      await folder.close();
      folder = next;
    }
    return await open(`/proc/self/fd/${folder.fd}/${last}`, flags | O_NOFOLLOW, 0o644);
  } finally {
    await folder.close();
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ELOOP' || code === 'ENOTDIR') return 'part of it is a link or not a folder';
  return code === undefined ? (error as Error).message : code;
}
