// Temporary folders of jails and their ways out. A name says who made it (host and process): what a killed process left
// behind is removed when the next folder is made, and nothing else is.

import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive, systemEnvironment } from '../util/index.ts';
import { scratchNotRemoved } from './failures.ts';

export type FolderKind = 'scratch' | 'egress';

/** `tabwright-<kind>-<host>-<pid>-<random>`; the host, because containers may share a folder for temporary files. */
function prefix(kind: FolderKind): string {
  return `tabwright-${kind}-${hostname().replace(/[^A-Za-z0-9.]/g, '_')}-`;
}

export function createOwnFolder(kind: FolderKind): string {
  reapStaleFolders(kind);
  return mkdtempSync(join(tmpdir(), `${prefix(kind)}${process.pid}-`));
}

/** Removes the folders whose maker is dead and whose owner is this user. Returns what it removed. */
export function reapStaleFolders(kind: FolderKind): readonly string[] {
  const start = prefix(kind);
  const stale = readdirSync(tmpdir())
    .filter((name) => name.startsWith(start) && makerIsDead(name.slice(start.length)))
    .map((name) => join(tmpdir(), name))
    .filter((folder) => {
      const found = lstatSync(folder, { throwIfNoEntry: false });
      return found?.isDirectory() === true && found.uid === (process.getuid?.() ?? 0);
    });
  // One that stays (a mount, a broken disk) is nobody's fault now, and is met again at the next start.
  return stale.filter((folder) => removed(folder) === undefined);
}

/** By the system's program: Node goes by whole paths, and a tree can be made that is deeper than a path can be. */
export function removeFolder(folder: string): void {
  const problem = removed(folder);
  if (problem !== undefined) throw scratchNotRemoved(folder, problem);
}

/** Why it is still there; undefined when it is gone. Links in it are removed and not followed. */
function removed(folder: string): string | undefined {
  const run = (command: string, args: readonly string[]) =>
    spawnSync(command, [...args, '--', folder], { stdio: ['ignore', 'ignore', 'pipe'], env: systemEnvironment() });
  if (run('rm', ['-rf']).status === 0) return undefined;
  run('chmod', ['-R', 'u+rwX']); // folders that their owner has closed to itself
  const again = run('rm', ['-rf']);
  return again.status === 0 ? undefined : String(again.stderr).trim().split('\n').at(-1)!;
}

function makerIsDead(rest: string): boolean {
  const pid = /^(\d+)-/.exec(rest)?.[1];
  return pid !== undefined && !isProcessAlive(Number(pid)); // no number: not a name of ours after all
}
