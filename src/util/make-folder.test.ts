import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tabwright-folder-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

test('makes every folder on the way, and is content with those that exist', async () => {
  const path = join(root, 'a', 'b', 'c');
  await makeFolder(path);
  await makeFolder(path);
  await makeFolder(`${path}/`);
  expect((await stat(path)).isDirectory()).toBe(true);
});

test('two at once make the same folder', async () => {
  const path = join(root, 'a', 'b', 'c', 'd');
  await Promise.all(Array.from({ length: 8 }, () => makeFolder(path)));
  expect((await stat(path)).isDirectory()).toBe(true);
});

test('a link to a folder is a folder', async () => {
  await symlink(root, join(root, 'link'));
  await makeFolder(join(root, 'link', 'a'));
  expect((await stat(join(root, 'a'))).isDirectory()).toBe(true);
});

test('a file in the way is an error, at the end and on the way', async () => {
  const file = join(root, 'file');
  await writeFile(file, '');
  await expect(makeFolder(file)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(file, 'a'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test('a link that leads nowhere is an error', async () => {
  await symlink(join(root, 'nowhere'), join(root, 'link'));
  await expect(makeFolder(join(root, 'link'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(root, 'link', 'a'))).rejects.toMatchObject({ code: 'EEXIST' });
});

test('an empty path and one with a NUL are errors', async () => {
  await expect(makeFolder('')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(makeFolder(`${root}/a\0b`)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
});

test.skipIf(process.platform !== 'linux')('a file system that takes no folders is an error, and no wait', async () => {
  await expect(makeFolder('/proc/tabwright/a')).rejects.toMatchObject({ code: 'ENOENT' });
});
