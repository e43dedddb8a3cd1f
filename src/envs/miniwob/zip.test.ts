import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readZip } from './zip.ts';

/** An archive with one entry, by the layout of the specification. */
function archive(path: string, content: Buffer, method: 0 | 8, comment = ''): Buffer {
  const packed = method === 8 ? deflateRawSync(content) : content;
  const name = Buffer.from(path);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(name.length, 26);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(method, 10);
  entry.writeUInt32LE(packed.length, 20);
  entry.writeUInt32LE(content.length, 24);
  entry.writeUInt16LE(name.length, 28);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(local.length + name.length + packed.length, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([local, name, packed, entry, name, end, Buffer.from(comment)]);
}

const TEXT = Buffer.from('one line, many times. '.repeat(100));

test.each([0, 8] as const)('a file packed by method %i is read as it was', (method) => {
  const files = readZip(archive('a/b.txt', TEXT, method, 'a comment'), () => true);
  expect([...files.keys()]).toEqual(['a/b.txt']);
  expect(files.get('a/b.txt')!.equals(TEXT)).toBe(true);
});

test('only files that are wanted are unpacked', () => {
  expect(readZip(archive('a/b.txt', TEXT, 8), (path) => path.startsWith('c/')).size).toBe(0);
});

test('what is cut off or no archive is said so', () => {
  expect(() => readZip(Buffer.from('no archive'), () => true)).toThrow(/not a ZIP archive/);
  const cut = archive('a.txt', TEXT, 0);
  expect(() => readZip(cut.subarray(0, cut.length - 30), () => true)).toThrow(/not a ZIP archive/);
});
