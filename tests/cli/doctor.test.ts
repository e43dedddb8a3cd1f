// `tabwright doctor` as a process: what it finds, and what it says where there is no jail.

import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { locateChromium } from '../../src/browser/index.ts';
import { noJail, whyNot } from '../sandbox/jail.ts';
import { runCli } from './run-cli.ts';

test.skipIf(noJail)(`the doctor tries the jail out and starts a browser in it${whyNot}`, async () => {
  const { code, stdout } = await runCli(['doctor', '--json']);
  const { jail } = JSON.parse(stdout) as { jail: { available: boolean; checks: { name: string; ok: boolean }[] } };
  expect(jail.checks.map(({ name }) => name)).toContain('browser');
  expect(jail.checks.every(({ ok }) => ok)).toBe(true);
  expect([jail.available, code]).toEqual([true, 0]);
});

test('without bubblewrap the doctor fails with the command that installs it', async () => {
  const { path } = await locateChromium();
  const bin = mkdtempSync(join(tmpdir(), 'tabwright-bin-'));
  symlinkSync(process.execPath, join(bin, 'node'));
  const { code, stdout, stderr } = await runCli(['doctor'], { env: { PATH: bin, CHROME_PATH: path } });
  rmSync(bin, { recursive: true });
  expect(stdout).toContain('FAIL  bubblewrap');
  expect(stderr).toContain(process.platform === 'linux' ? 'apt-get install bubblewrap' : 'docker run');
  expect(code).toBe(2);
});
