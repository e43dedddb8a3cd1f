import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createScratch } from './scratch.ts';

const secret = join(mkdtempSync(join(tmpdir(), 'tabwright-secret-')), 'file');
writeFileSync(secret, 'of the host');
afterAll(() => rmSync(join(secret, '..'), { recursive: true }));

test.skipIf(process.platform !== 'linux')('what is written under a name of the jail is read back under it', () => {
  using scratch = createScratch();
  mkdirSync(join(scratch.folder, 'sub'));
  scratch.write('/tmp/sub/shot.png', Buffer.from([1, 2, 3]));
  scratch.write('sub/shot.png', Buffer.from([4, 5]));
  expect([...scratch.read('/tmp/sub/shot.png')]).toEqual([4, 5]);
  expect([...readFileSync(join(scratch.folder, 'sub', 'shot.png'))]).toEqual([4, 5]);
});

test.skipIf(process.platform !== 'linux')('the folder is gone with its scope', () => {
  const scratch = createScratch();
  scratch.write('a', Buffer.alloc(1));
  scratch[Symbol.dispose]();
  expect(existsSync(scratch.folder)).toBe(false);
});

test.skipIf(process.platform !== 'linux').each([
  ['a path outside', '/etc/passwd'],
  ['a path that climbs out', '/tmp/../etc/passwd'],
  ['the folder itself', '/tmp'],
  ['a link as file', '/tmp/link'],
  ['a link as folder', '/tmp/folder/file'],
  ['a folder', '/tmp/real'],
  ['a pipe', '/tmp/pipe'],
  ['a file that is not there', '/tmp/none'],
  ['a NUL', '/tmp/a\0b'],
])('%s is not read', (_name, path) => {
  using scratch = createScratch();
  symlinkSync(secret, join(scratch.folder, 'link'));
  symlinkSync(join(secret, '..'), join(scratch.folder, 'folder'));
  mkdirSync(join(scratch.folder, 'real'));
  execFileSync('mkfifo', [join(scratch.folder, 'pipe')]);
  expect(() => scratch.read(path)).toThrow(expect.objectContaining({ code: 'scratch-path-refused' }));
  expect(() => scratch.check(path)).toThrow(expect.objectContaining({ code: 'scratch-path-refused' }));
});

test.skipIf(process.platform !== 'linux')('writing replaces a link and leaves what it points at alone', () => {
  using scratch = createScratch();
  symlinkSync(secret, join(scratch.folder, 'link'));
  linkSync(secret, join(scratch.folder, 'hard'));
  for (const name of ['link', 'hard']) scratch.write(name, Buffer.from('new'));
  expect(readFileSync(secret, 'utf8')).toBe('of the host');
  symlinkSync(join(secret, '..'), join(scratch.folder, 'folder'));
  expect(() => scratch.write('folder/file', Buffer.from('new'))).toThrow('ENOTDIR');
});

test.skipIf(process.platform !== 'linux')('a file larger than allowed is not read', () => {
  using scratch = createScratch();
  scratch.write('large', Buffer.alloc(11));
  expect(() => scratch.read('large', { maxBytes: 10 })).toThrow('11 bytes, allowed are 10');
});
