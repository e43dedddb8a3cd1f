// What a process and its descendants use, read from /proc. Linux only. A process that ends while it is read counts
// as nothing.

import { readdirSync, readFileSync } from 'node:fs';

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
  return threadsOf(pid).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`)
      .split(' ')
      .filter((text) => text !== '')
      .map(Number),
  );
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isGone(error)) return '';
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '');
}
