// Chromium's life: found or not, started or not, killed in the middle, and never left behind.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { launchBrowser } from '../../src/browser/index.ts';
import { processesUsing, reapStaleProfiles } from '../../src/browser/profile.ts';
import { createClickCheckboxesEnv } from '../../src/envs/index.ts';
import { browsersUnderTest, NEVER } from './browsers-under-test.ts';

const browsers = await browsersUnderTest();
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Profile folders made by a process. */
function profilesOf(pid: number): string[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith('tabwright-chromium-') && name.includes(`-${pid}-`))
    .map((name) => join(tmpdir(), name));
}

test.each(browsers)('disposing a browser leaves neither process nor profile ($name)', async ({ launch }) => {
  const browser = await launchBrowser(launch);
  const [profile] = profilesOf(process.pid);
  expect(processesUsing(profile).length).toBeGreaterThan(0);
  await browser[Symbol.asyncDispose]();
  await expect.poll(() => [processesUsing(profile), existsSync(profile)], { timeout: 5_000 }).toEqual([[], false]);
});

test.skipIf(process.platform !== 'linux').each(browsers)(
  'a key in the environment of this process does not reach Chromium ($name)',
  async ({ launch }) => {
    process.env.SOME_API_KEY = 'a secret';
    try {
      await using browser = await launchBrowser(launch);
      const [profile] = profilesOf(process.pid);
      const environments = [browser.pid, ...processesUsing(profile)].map((pid) =>
        readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'),
      );
      for (const variables of environments) {
        expect(variables).toContain(`PATH=${process.env.PATH}`);
        expect(variables).not.toContain('SOME_API_KEY=a secret');
      }
    } finally {
      delete process.env.SOME_API_KEY;
    }
  },
);

/** Starts a parent with an open browser, ends the parent by `how`, and returns its profile folders before that. */
async function parentEnded(launch: object, how: NodeJS.Signals | 'exit'): Promise<{ profiles: string[] }> {
  const script = `
    import { launchBrowser } from './src/browser/index.ts';
    const browser = await launchBrowser(${JSON.stringify(launch)});
    const page = await browser.newPage({ viewport: { width: 332, height: 214 } });
    process.stdin.once('data', () => process.exit(0));
    console.log('ready');
  `;
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(parent.stdout, 'data');
  const profiles = profilesOf(parent.pid!);
  expect(profiles).toHaveLength(1);
  expect(processesUsing(profiles[0]).length).toBeGreaterThan(0);
  if (how === 'exit') parent.stdin.write('\n');
  else parent.kill(how);
  await once(parent, 'exit');
  return { profiles };
}

test.each(browsers)(
  'no Chromium outlives SIGKILL of its parent; its profile is removed at the next start ($name)',
  async ({ launch }) => {
    const { profiles } = await parentEnded(launch, 'SIGKILL');
    await expect.poll(() => processesUsing(profiles[0]), { timeout: 5_000 }).toEqual([]);
    reapStaleProfiles();
    expect(existsSync(profiles[0])).toBe(false);
  },
  60_000,
);

test.each(['SIGINT', 'SIGTERM', 'exit'] as const)(
  'no Chromium and no profile outlive %s of its parent',
  async (how) => {
    const { profiles } = await parentEnded(browsers[0].launch, how);
    await expect
      .poll(() => [processesUsing(profiles[0]), existsSync(profiles[0])], { timeout: 5_000 })
      .toEqual([[], false]);
  },
  60_000,
);

test('the reaper leaves the profiles of living processes and of other machines alone', () => {
  const host = hostname().replace(/[^A-Za-z0-9.]/g, '_');
  const mine = join(tmpdir(), `tabwright-chromium-${host}-${process.pid}-test`);
  const elsewhere = join(tmpdir(), `tabwright-chromium-elsewhere.${process.pid}-1-test`);
  for (const folder of [mine, elsewhere]) mkdirSync(folder);
  try {
    reapStaleProfiles();
    expect([existsSync(mine), existsSync(elsewhere)]).toEqual([true, true]);
  } finally {
    for (const folder of [mine, elsewhere]) rmSync(folder, { recursive: true });
  }
});

test.each(browsers)(
  'a Chromium killed in mid-episode is a browser failure; the next episode gets a new one ($name)',
  async ({ launch }) => {
    await using env = await createClickCheckboxesEnv({ browser: launch, pages: 2 });
    const episode = await env.open(env.task(0), { signal: NEVER });
    process.kill(-env.browser.pid, 'SIGKILL');
    const action = { kind: 'call', tool: 'click', args: { target: 1 } } as const;
    await expect(episode.step(action, { signal: NEVER })).rejects.toMatchObject({
      boundary: 'browser',
      code: 'browser-closed',
      retryable: true,
    });
    await episode[Symbol.asyncDispose]();
    await using next = await env.open(env.task(0), { signal: NEVER });
    expect(next.first.page).toBe(episode.first.page);
    expect(env.relaunches).toBe(1);
  },
);

test('a browser that refuses to start is one clear line, with its last words in the details', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'refusing-'));
  const path = join(folder, 'chrome');
  writeFileSync(path, '#!/bin/sh\necho "cannot open display" >&2\nexit 1\n', { mode: 0o755 });
  try {
    const start = launchBrowser({ location: { path, likely: 'headless-shell', env: {} } });
    await expect(start).rejects.toMatchObject({
      boundary: 'browser',
      code: 'launch-failed',
      details: { path, stderr: 'cannot open display' },
    });
    await expect(start).rejects.toThrow(/^Chromium at .*chrome did not start: .*cannot open display$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a browser that never answers is given up at the deadline', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'silent-'));
  const path = join(folder, 'chrome');
  writeFileSync(path, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
  try {
    const start = launchBrowser({ location: { path, likely: 'chrome', env: {} }, deadlineMs: 200 });
    await expect(start).rejects.toMatchObject({
      code: 'launch-failed',
      details: { reason: 'no answer within 200 ms' },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the kind of a browser is asked of the browser: a wrong guess ends in the right mode', async () => {
  for (const { launch } of browsers) {
    const location = launch.location!;
    await using browser = await launchBrowser({
      location: { ...location, likely: location.likely === 'chrome' ? 'headless-shell' : 'chrome' },
    });
    expect(browser.mode).toBe(location.likely === 'chrome' ? 'ordinary' : 'begin-frame');
  }
});
