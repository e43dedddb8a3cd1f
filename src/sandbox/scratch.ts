// The folder that the two jails of a session share, seen inside both at /tmp, and the host's way to read and write
// in it. Jailed code owns the contents, so no name in it is trusted: every step of a path is opened by descriptor and
// never through a link, which holds even while the folder is changed underneath. Linux only (/proc/self/fd).

import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { scratchPathRefused } from './failures.ts';
import { freshId } from './jail-user.ts';

export interface Scratch extends Disposable {
  /** On the host. */
  readonly folder: string;
  /** Group that the session's jails share; undefined where they run as the starting user. */
  readonly gid: number | undefined;
  /** Bytes of a file, named as it is inside (`/tmp/shot.png`). Refuses links, other kinds of files and large ones. */
  read(path: string, options?: { readonly maxBytes?: number }): Buffer;
  /** Replaces or makes a file in an existing folder. */
  write(path: string, bytes: Uint8Array): void;
  /** Throws `scratch-path-refused` unless `path` names a regular file in the folder, reached without a link. */
  check(path: string): void;
}

/** Default of `read`. */
const MAX_BYTES = 64 * 1024 * 1024;

export function createScratch(): Scratch {
  // The outer folder keeps other users of the machine out; the inner one is open to the jails' own users.
  const outer = mkdtempSync(join(tmpdir(), 'tabwright-scratch-'));
  const folder = join(outer, 'tmp');
  mkdirSync(folder);
  const gid = process.getuid?.() === 0 ? freshId() : undefined;
  if (gid !== undefined) {
    chownSync(folder, 0, gid);
    chmodSync(folder, 0o2770);
  }
  return {
    folder,
    gid,
    read: (path, { maxBytes = MAX_BYTES } = {}) =>
      withFile(folder, path, constants.O_RDONLY, (file) => {
        const { size } = fstatSync(file);
        if (size > maxBytes) throw scratchPathRefused(path, `it has ${size} bytes, allowed are ${maxBytes}`);
        const bytes = Buffer.alloc(size);
        let length = 0;
        for (let got = -1; got !== 0 && length < size; length += got)
          got = readSync(file, bytes, length, size - length, null);
        return bytes.subarray(0, length);
      }),
    write: (path, bytes) =>
      // A new file, so that whoever had the old one open (or linked) does not get what is written.
      withFolder(folder, path, (parent, name) => {
        const target = `/proc/self/fd/${parent}/${name}`;
        unlinkIfThere(path, target);
        const file = openRefusing(path, target, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
        try {
          for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
        } finally {
          closeSync(file);
        }
      }),
    check: (path) => withFile(folder, path, constants.O_RDONLY, () => undefined),
    [Symbol.dispose]: () => rmSync(outer, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }),
  };
}

function withFile<T>(folder: string, path: string, flags: number, use: (file: number) => T): T {
  return withFolder(folder, path, (parent, name) => {
    // Without waiting: opening a pipe would block for its other end.
    const file = openRefusing(path, `/proc/self/fd/${parent}/${name}`, flags | constants.O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) throw scratchPathRefused(path, 'it is not a regular file');
      return use(file);
    } finally {
      closeSync(file);
    }
  });
}

/** Opens the folder that holds `path`, step by step, and hands its descriptor and the last name over. */
function withFolder<T>(root: string, path: string, use: (parent: number, name: string) => T): T {
  const steps = stepsOf(path);
  let parent = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    for (const step of steps.slice(0, -1)) {
      const next = openRefusing(path, `/proc/self/fd/${parent}/${step}`, constants.O_RDONLY | constants.O_DIRECTORY);
      closeSync(parent);
      parent = next;
    }
    return use(parent, steps.at(-1)!);
  } finally {
    closeSync(parent);
  }
}

/** The names below /tmp. Relative paths are meant from /tmp as well. */
function stepsOf(path: string): readonly string[] {
  if (path.includes('\0')) throw scratchPathRefused(JSON.stringify(path), 'it holds a NUL');
  const whole = posix.resolve('/tmp', path);
  if (!whole.startsWith('/tmp/')) throw scratchPathRefused(path, 'it lies outside /tmp, the folder of the session');
  return whole.slice('/tmp/'.length).split('/');
}

function openRefusing(path: string, target: string, flags: number, mode?: number): number {
  try {
    return openSync(target, flags | constants.O_NOFOLLOW, mode);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const reason = code === 'ELOOP' ? 'a symbolic link stands there' : `it cannot be opened (${code})`;
    throw scratchPathRefused(path, reason);
  }
}

function unlinkIfThere(path: string, target: string): void {
  try {
    unlinkSync(target);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code !== 'ENOENT') throw scratchPathRefused(path, `what stands there cannot be replaced (${code})`);
  }
}
