import { expect, test } from 'vitest';
import { readMultipart } from './multipart.ts';

const boundary = '----WebKitFormBoundaryabc123';
const body = (parts: readonly string[]): Uint8Array =>
  Buffer.from(`${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`);
const type = `multipart/form-data; boundary=${boundary}`;

test('fields and files are read as browsers send them', () => {
  const { form, files } = readMultipart(
    body([
      'Content-Disposition: form-data; name="name"\r\n\r\nZoë',
      'Content-Disposition: form-data; name="file"; filename="a note.txt"\r\nContent-Type: text/plain\r\n\r\nline 1\nline 2\n',
      'Content-Disposition: form-data; name="name"\r\n\r\ntwo\r\nlines',
    ]),
    type,
  );
  expect(form.getAll('name')).toEqual(['Zoë', 'two\nlines']);
  expect([...files]).toEqual([['file', { name: 'a note.txt', text: 'line 1\nline 2\n' }]]);
});

test('a file field without a file is no file', () => {
  const empty =
    'Content-Disposition: form-data; name="file"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n';
  expect(readMultipart(body([empty]), type).files.size).toBe(0);
});

test('what is no such body has nothing in it', () => {
  expect([...readMultipart(body(['x']), 'multipart/form-data').form]).toEqual([]);
});
