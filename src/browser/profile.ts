// The temporary profile folder of a browser. Its name says who made it (host and process), so that a later start
// can remove what a killed process left behind, and nothing else.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive } from '../util/index.ts';
import { profileNotCreated } from './failures.ts';

/** `tabwright-chromium-<host>-<pid>-<random>`; the host is kept because containers may share a temp folder. */
function prefix(): string {
  return `tabwright-chromium-${hostname().replace(/[^A-Za-z0-9.]/g, '_')}-`;
}

export function createProfile(): string {
  try {
    return mkdtempSync(join(tmpdir(), `${prefix()}${process.pid}-`));
  } catch (error) {
    throw profileNotCreated(tmpdir(), error);
  }
}

/** Never throws: this runs on the way out of the process, and what cannot be removed now is at the next start. */
export function removeProfile(folder: string): void {
  try {
    // The last of Chromium's processes may still be writing while the kill takes effect.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch {
    // left to `reapStaleProfiles`
  }
}

/** Removes profiles whose maker is dead, killing first any process that still runs on one. Returns what it removed. */
export function reapStaleProfiles(): readonly string[] {
  const start = prefix();
  const stale = namesIn(tmpdir())
    .filter((name) => name.startsWith(start) && makerIsDead(name, start))
    .map((name) => join(tmpdir(), name))
    .filter(isOurs);
  for (const folder of stale) {
    for (const pid of processesUsing(folder)) tryKill(pid);
    removeProfile(folder);
  }
  return stale;
}

/** Process ids with `folder` as their profile. Linux only (elsewhere none): other systems have no /proc. */
export function processesUsing(folder: string): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).includes(`--user-data-dir=${folder}\0`))
    .map(Number);
}

/** None where the folder does not exist: whoever needs it finds that out, and says it better. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    // A temp folder that cannot be used is told by `createProfile`, which needs it.
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

/** Same owner: a shared temp folder may hold those of other users, whom we cannot and need not clean up after. */
function isOurs(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.uid === (process.getuid?.() ?? 0);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it ended between the listing and the read
  }
}

function makerIsDead(name: string, start: string): boolean {
  const pid = Number.parseInt(name.slice(start.length), 10);
  return Number.isInteger(pid) && !isProcessAlive(pid); // no number: not a name of ours after all, leave it alone
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone already, or another user's: neither is ours to insist on
  }
}
