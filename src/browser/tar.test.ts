import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tarFiles } from './tar.ts';

/** A header block as POSIX lays it out, followed by the data. */
function entry(name: string, data: string, type = '0'): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  return Buffer.concat([header, Buffer.from(data), Buffer.alloc((512 - (data.length % 512)) % 512)]);
}

test('reads the files that the system’s own tar wrote', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tar-test-'));
  try {
    mkdirSync(join(folder, 'a', 'b'), { recursive: true });
    writeFileSync(join(folder, 'a', 'b', 'one'), 'x'.repeat(1000));
    writeFileSync(join(folder, 'a', 'two'), '');
    const archive = execFileSync('tar', ['--format=ustar', '-cf', '-', '-C', folder, 'a']);
    const files = [...tarFiles(archive)].map(({ name, data }) => [name, data.length]);
    expect(files.sort()).toEqual([
      ['a/b/one', 1000],
      ['a/two', 0],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each(['../evil', '/etc/evil', 'a/../../evil'])('refuses the entry %s', (name) => {
  expect(() => [...tarFiles(entry(name, 'x'))]).toThrow(/unsafe/);
});

test('refuses links', () => {
  expect(() => [...tarFiles(entry('a', '', '2'))]).toThrow(/type "2"/);
});
