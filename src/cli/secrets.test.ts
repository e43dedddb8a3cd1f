import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSecret } from './secrets.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-secrets-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('reads the environment first, then the file, and knows when there is none', async () => {
  const file = join(folder, '.env');
  expect(await readSecret('KEY', { environment: {}, file })).toBeUndefined();
  await writeFile(file, '# keys\nKEY="from the file"\nEMPTY=\n');
  expect(await readSecret('KEY', { environment: {}, file })).toBe('from the file');
  expect(await readSecret('KEY', { environment: { KEY: 'own' }, file })).toBe('own');
  expect(await readSecret('KEY', { environment: { KEY: '' }, file })).toBe('from the file');
  expect(await readSecret('EMPTY', { environment: {}, file })).toBeUndefined();
  await expect(readSecret('KEY', { environment: {}, file: folder })).rejects.toMatchObject({ code: 'env-unreadable' });
});
