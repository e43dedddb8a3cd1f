import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findMiniwobContent, hashOfContent, keptContentFolder } from './content.ts';

const folder = mkdtempSync(join(tmpdir(), 'miniwob-content-'));
afterAll(() => rmSync(folder, { recursive: true }));
const { signal } = new AbortController();

test('the hash covers paths, sizes and bytes, in the byte order of the paths', () => {
  const files = new Map([
    ['b', Buffer.from('xyz')],
    ['B', Buffer.from('')],
  ]);
  const expected = createHash('sha256').update('B\x000\0').update('b\x003\0xyz').digest('hex');
  expect(hashOfContent(files)).toBe(expected);
});

test('pages that differ from the version are refused', async () => {
  mkdirSync(join(folder, 'html', 'miniwob'), { recursive: true });
  writeFileSync(join(folder, 'html', 'miniwob', 'click-test.html'), '<button>another</button>');
  await expect(findMiniwobContent({ from: folder, signal })).rejects.toMatchObject({
    boundary: 'config',
    code: 'miniwob-content-differs',
  });
});

test('a path without pages, and one that is no wheel, say what they lack', async () => {
  await expect(findMiniwobContent({ from: join(folder, 'none'), signal })).rejects.toThrow(/nothing at .*none/);
  mkdirSync(join(folder, 'empty'));
  await expect(findMiniwobContent({ from: join(folder, 'empty'), signal })).rejects.toThrow(
    /holds no MiniWoB\+\+ pages/,
  );
  writeFileSync(join(folder, 'file.whl'), 'text');
  await expect(findMiniwobContent({ from: join(folder, 'file.whl'), signal })).rejects.toThrow(/no wheel of miniwob/);
});

test('MINIWOB_DIR is looked at where nothing else is given, and the copy lies with the data of the user', async () => {
  const environment = { MINIWOB_DIR: join(folder, 'none'), XDG_DATA_HOME: '/data' };
  await expect(findMiniwobContent({ environment, signal })).rejects.toMatchObject({ code: 'miniwob-not-found' });
  expect(keptContentFolder(environment)).toBe('/data/tabwright/suites/miniwob-1.1.0');
});
