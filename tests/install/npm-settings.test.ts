import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { systemEnvironment } from '../../src/util/index.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('npm runs no install scripts here, and knows every setting of .npmrc', async () => {
  const { stdout, stderr } = await promisify(execFile)('npm', ['config', 'get', 'ignore-scripts'], {
    cwd: ROOT,
    env: systemEnvironment(), // without what an outer npm has set
  });
  expect(stdout.trim()).toBe('true');
  expect(stderr).not.toContain('Unknown project config');
});
