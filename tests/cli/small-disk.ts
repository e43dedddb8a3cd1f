// A disk of a few kilobytes, to be filled: a tmpfs, which only a root that may mount can have.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk extends Disposable {
  readonly path: string;
  resize(kilobytes: number): void;
}

/** Undefined where nothing can be mounted. */
export function mountSmallDisk(kilobytes: number): SmallDisk | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const path = mkdtempSync(join(tmpdir(), 'tabwright-disk-'));
  const mount = (options: string): unknown =>
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { stdio: 'pipe' });
  try {
    mount(`size=${kilobytes}k`);
  } catch {
    rmSync(path, { recursive: true });
    return undefined; // root of a container without the right to mount
  }
  return {
    path,
    resize: (size) => void mount(`remount,size=${size}k`),
    [Symbol.dispose]() {
      execFileSync('umount', [path]);
      rmSync(path, { recursive: true });
    },
  };
}
