// What a process and its descendants use, read from /proc. Linux only. A process that ends while it is read counts
// as nothing.

import { readdirSync, readFileSync, statSync, type Stats } from 'node:fs';

/** `root` and all its descendants; empty once `root` is gone. */
export function processTree(root: number): readonly number[] {
  const tree = [root];
  // Children are appended while the list is walked.
  for (const pid of tree) tree.push(...childrenOf(pid));
  return tree.filter((pid) => read(`/proc/${pid}/stat`) !== '');
}

/** Bytes of memory that are the processes' own: anonymous and shared. Files of the disk are not counted. */
export function ownMemory(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + memoryOf(pid), 0);
}

function memoryOf(pid: number): number {
  const status = read(`/proc/${pid}/status`);
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
  return (kilobytes('RssAnon') + kilobytes('RssShmem')) * 1024;
}

/** A child is listed under the thread that made it. */
function childrenOf(pid: number): readonly number[] {
  return namesIn(`/proc/${pid}/task`).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`)
      .split(' ')
      .filter((text) => text !== '')
      .map(Number),
  );
}

/** Bytes of files that have no name any more and stay as long as they are open; no look into a folder finds them. */
export function deletedBytes(pids: readonly number[]): number {
  const sizes = new Map<string, number>();
  for (const link of pids.flatMap((pid) => namesIn(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`))) {
    const file = statIfThere(link);
    if (file?.isFile() && file.nlink === 0) sizes.set(`${file.dev}:${file.ino}`, sizeOf(file));
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** Some file systems count blocks late, and space can be taken beyond the end of a file: the larger figure. */
export function sizeOf(file: Stats): number {
  return Math.max(file.size, file.blocks * 512);
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

/** Names in a folder of /proc. */
function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (isUnreadable(error)) return [];
    throw error;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isUnreadable(error)) return '';
    throw error;
  }
}

/** It ended meanwhile, or it is a process that has shut even its owner out, as Chromium's sandboxed ones do. */
function isUnreadable(error: unknown): boolean {
  return ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
}
