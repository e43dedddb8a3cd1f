import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { runVersions } from './version.ts';

test('the versions of a run are those that are installed', () => {
  const installed = createRequire(import.meta.url)('onnxruntime-node/package.json') as { version: string };
  const versions = runVersions('HeadlessChrome/147.0.0.0');
  expect(versions).toMatchObject({ onnxruntime: installed.version, node: process.version });
  expect(versions.chromium).toBe('HeadlessChrome/147.0.0.0');
  expect(runVersions()).not.toHaveProperty('chromium');
});
