import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findApiKey } from './api-key.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tinker-key-'));
  await writeFile(join(folder, '.env'), 'OTHER=1\nTINKER_API_KEY="tml-from-file" # mine\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const REMOTE = 'https://tinker.example.com/api';

it('the environment comes before the file, the file before nothing', () => {
  const envFile = join(folder, '.env');
  expect(findApiKey({ baseUrl: REMOTE, environment: { TINKER_API_KEY: 'tml-env' }, envFile })).toBe('tml-env');
  expect(findApiKey({ baseUrl: REMOTE, environment: {}, envFile })).toBe('tml-from-file');
});

it('without a key a server of this machine is asked all the same, any other is not', () => {
  const options = { environment: {}, envFile: join(folder, 'none') };
  for (const baseUrl of ['http://127.0.0.1:1', 'http://localhost:2', 'http://[::1]:3']) {
    expect(findApiKey({ baseUrl, ...options })).toBe('tml-local');
  }
  expect(() => findApiKey({ baseUrl: REMOTE, ...options })).toThrow(/tinker\.example\.com: set TINKER_API_KEY/);
});

it('a key goes over plain HTTP to this machine only, unless that is allowed by name', () => {
  const environment = { TINKER_API_KEY: 'tml-env' };
  for (const baseUrl of ['http://10.0.0.1:8000', 'http://127.0.0.1.example.com', 'http://127.example.com']) {
    const refused = (): string => findApiKey({ baseUrl, environment });
    expect(refused).toThrow(/TINKER_API_KEY would go to .* over plain HTTP.*TABWRIGHT_ALLOW_PLAIN_HTTP_KEYS=1/);
    expect(refused).not.toThrow(/tml-env/);
    const allowed = { ...environment, TABWRIGHT_ALLOW_PLAIN_HTTP_KEYS: '1' };
    expect(findApiKey({ baseUrl, environment: allowed })).toBe('tml-env');
  }
  for (const baseUrl of ['http://127.0.0.2:1', 'http://localhost:2', 'http://[::1]:3', REMOTE]) {
    expect(findApiKey({ baseUrl, environment })).toBe('tml-env');
  }
});
