// The folder that the jails of a session share, seen inside at /tmp: made, opened to their users, removed. What lies
// in it was put there by jailed code, so the host must follow no link in it; reading and writing are not done here.

import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freshId, isFullRoot } from './jail-user.ts';
import { createOwnFolder, removeFolder } from './own-folder.ts';

export interface ScratchFolder extends Disposable {
  /** On the host. */
  readonly folder: string;
  /** Group that the session's jails share; undefined where they run as the starting user. */
  readonly gid: number | undefined;
}

export function createScratchFolder(): ScratchFolder {
  // The outer folder keeps other users of the machine out; the inner one is open to the jails' own users.
  const outer = createOwnFolder('scratch');
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
    [Symbol.dispose]: () => removeFolder(outer),
  };
}
