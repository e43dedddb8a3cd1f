// What a killed host leaves is gone at the next start; what living ones use stays.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOwnFolder, reapStaleFolders, removeFolder } from './own-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'own-folder-'));
  vi.stubEnv('TMPDIR', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

test('folders of dead processes are removed, with what is in them and nothing that it points to', () => {
  const outside = join(folder, 'outside');
  writeFileSync(outside, 'untouched');
  const { pid } = spawnSync(process.execPath, ['-e', '0']); // has ended
  const host = hostname().replace(/[^A-Za-z0-9.]/g, '_');
  const dead = join(folder, `tabwright-scratch-${host}-${pid}-abc`);
  mkdirSync(join(dead, 'tmp'), { recursive: true });
  symlinkSync(outside, join(dead, 'tmp', 'link'));
  const others = [
    join(folder, `tabwright-scratch-${host}-${process.pid}-abc`),
    join(folder, `tabwright-scratch-elsewhere-${pid}-abc`),
    join(folder, `tabwright-egress-${host}-${pid}-abc`),
    join(folder, `tabwright-scratch-${host}-notes`),
  ];
  for (const other of others) mkdirSync(other);
  expect(reapStaleFolders('scratch')).toEqual([dead]);
  expect([dead, outside, ...others].map((path) => existsSync(path))).toEqual([false, true, true, true, true, true]);
});

test('making one reaps first, and its own is left alone until it is removed', () => {
  const own = createOwnFolder('egress');
  createOwnFolder('egress');
  expect(existsSync(own)).toBe(true);
  removeFolder(own);
  expect(existsSync(own)).toBe(false);
});
