// The folder that the jails of a session share, seen inside at /tmp: made, opened to their users, removed. What lies
// in it was put there by jailed code, so the host must follow no link in it; reading and writing are not done here.

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemEnvironment } from '../util/index.ts';
import { scratchNotRemoved } from './failures.ts';
import { freshId, isFullRoot } from './jail-user.ts';

export interface ScratchFolder extends Disposable {
  /** On the host. */
  readonly folder: string;
  /** Group that the session's jails share; undefined where they run as the starting user. */
  readonly gid: number | undefined;
}

export function createScratchFolder(): ScratchFolder {
  // The outer folder keeps other users of the machine out; the inner one is open to the jails' own users.
  const outer = mkdtempSync(join(tmpdir(), 'tabwright-scratch-'));
  const folder = join(outer, 'tmp');
  mkdirSync(folder);
  const gid = isFullRoot() ? freshId() : undefined;
  if (gid !== undefined) {
    chownSync(folder, 0, gid);
    chmodSync(folder, 0o2770);
  }
  return {
    folder,
    gid,
    [Symbol.dispose]: () => removeTree(outer),
  };
}

/** By the system's program: Node goes by whole paths, and a tree can be made that is deeper than a path can be. */
function removeTree(folder: string): void {
  const run = (command: string, args: readonly string[]) =>
    spawnSync(command, [...args, '--', folder], { stdio: ['ignore', 'ignore', 'pipe'], env: systemEnvironment() });
  if (run('rm', ['-rf']).status === 0) return;
  run('chmod', ['-R', 'u+rwX']); // folders that their owner has closed to itself
  const again = run('rm', ['-rf']);
  if (again.status !== 0) throw scratchNotRemoved(folder, String(again.stderr).trim().split('\n').at(-1)!);
}
