// The Chromium that comes with npm: all that a bare Linux machine has. Unpacked into a cache of its own here.

import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { launchBrowser, locateChromium } from '../../src/browser/index.ts';
import { bundledChromiumFolder, unpackBundledChromium } from '../../src/browser/bundled.ts';
import { createClickCheckboxesEnv, createPuzzle, oracleTarget } from '../../src/envs/index.ts';
import { NEVER } from './browsers-under-test.ts';

let cache: string;
beforeAll(() => {
  cache = mkdtempSync(join(tmpdir(), 'bundled-test-'));
  vi.stubEnv('XDG_CACHE_HOME', cache);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true });
});

/** A machine with nothing installed. */
const bare = { env: { PATH: '' } };
const applies = bundledChromiumFolder(process.platform) !== undefined;

test('where npm brings a browser, two starts at once unpack it once and whole; elsewhere the error says what to do', async () => {
  if (!applies) {
    // On macOS and Windows the fixed places of an installed Chrome are looked at too.
    const nowhere = { ...bare, isExecutable: () => false };
    await expect(locateChromium(nowhere)).rejects.toMatchObject({ code: 'chromium-not-found' });
    return;
  }
  const [first, second] = await Promise.all([locateChromium(bare), locateChromium(bare)]);
  expect(second).toEqual(first);
  expect(readdirSync(join(cache, 'tabwright'))).toHaveLength(1);
  const start = performance.now();
  expect(await locateChromium(bare)).toEqual(first);
  expect(performance.now() - start).toBeLessThan(500); // nothing is unpacked again

  await using browser = await launchBrowser({ location: first });
  expect(browser).toMatchObject({ mode: 'begin-frame', product: expect.stringMatching(/^HeadlessChrome\//) as string });

  await using env = await createClickCheckboxesEnv({ browser: { location: first }, pages: 1 });
  await using episode = await env.open(env.task(0), { signal: NEVER });
  for (let page = episode.first.page; ;) {
    const args = { target: oracleTarget(createPuzzle(0), page) };
    const { observation, outcome } = await episode.step({ kind: 'call', tool: 'click', args }, { signal: NEVER });
    if (outcome !== undefined) {
      expect(outcome).toMatchObject({ success: true, reward: 1 });
      return;
    }
    page = observation.page;
  }
}, 120_000);

test.skipIf(!applies)('unpacking is given up on a signal and at its deadline, and leaves nothing behind', async () => {
  const fresh = join(cache, 'given-up');
  vi.stubEnv('XDG_CACHE_HOME', fresh);
  const folder = bundledChromiumFolder(process.platform)!;
  const controller = new AbortController();
  const aborted = unpackBundledChromium(folder, { signal: controller.signal });
  const late = unpackBundledChromium(folder, { deadlineMs: 1 });
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
  await expect(late).rejects.toMatchObject({
    code: 'unpack-failed',
    message: expect.stringContaining('longer than 1 ms') as string,
  });
  await expect.poll(() => readdirSync(join(fresh, 'tabwright')), { timeout: 10_000 }).toEqual([]);
});

test('a cache that cannot be written is one clear line, and leaves nothing half-unpacked', async () => {
  vi.stubEnv('XDG_CACHE_HOME', join(cache, 'file', 'below'));
  writeFileSync(join(cache, 'file'), '');
  if (!applies) return expect(existsSync(join(cache, 'tabwright'))).toBe(false);
  await expect(locateChromium(bare)).rejects.toMatchObject({ boundary: 'browser', code: 'unpack-failed' });
}, 60_000);
