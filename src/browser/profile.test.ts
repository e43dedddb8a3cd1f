import { afterEach, expect, test, vi } from 'vitest';
import { createProfile, reapStaleProfiles } from './profile.ts';

afterEach(() => vi.unstubAllEnvs());

test('a temp folder that does not exist has nothing to remove, and making a profile there says which folder', () => {
  vi.stubEnv('TMPDIR', '/nowhere/at-all');
  expect(reapStaleProfiles()).toEqual([]);
  expect(() => createProfile()).toThrowError(/\/nowhere\/at-all.*set TMPDIR/);
});
