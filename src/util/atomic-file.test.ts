// Atomic writing on a real disk.

import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeFileAtomic } from './index.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-atomic-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a file is replaced as a whole and nothing else stays in the folder', async () => {
  const path = join(folder, 'a.json');
  await writeFileAtomic(path, 'old and rather long');
  await writeFileAtomic(path, new TextEncoder().encode('new'));
  expect(await readFile(path, 'utf8')).toBe('new');
  expect(await readdir(folder)).toEqual(['a.json']);
});

test('readers see whole contents only, however often it is replaced', async () => {
  const path = join(folder, 'a.txt');
  const contents = ['a', 'b'].map((letter) => letter.repeat(300_000));
  await writeFileAtomic(path, contents[0]);
  const writing = (async () => {
    for (let i = 1; i < 20; i++) await writeFileAtomic(path, contents[i % 2]);
  })();
  for (let i = 0; i < 50; i++) expect(contents).toContain(await readFile(path, 'utf8'));
  await writing;
});

test('a failed write leaves what was there and no temporary file', async () => {
  const path = join(folder, 'taken');
  await writeFileAtomic(join(folder, 'other'), 'x');
  await mkdir(path);
  await expect(writeFileAtomic(path, 'data')).rejects.toThrow();
  expect((await readdir(folder)).sort()).toEqual(['other', 'taken']);
});
