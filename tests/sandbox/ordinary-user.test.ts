// The jail made by an ordinary user. Run by one, every other test here is that; run by root, this file becomes nobody.

import { execFile } from 'node:child_process';
import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { noJail, whyNot } from './jail.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NOBODY = 65534;

const home = mkdtempSync(join(tmpdir(), 'tabwright-nobody-'));
chmodSync(home, 0o777);
afterAll(() => rmSync(home, { recursive: true }));

/** Runs a module as nobody; what it writes to standard output. */
async function asNobody(script: string): Promise<string> {
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script];
  const args = [
    `--reuid=${NOBODY}`,
    `--regid=${NOBODY}`,
    '--clear-groups',
    'env',
    `HOME=${home}`,
    `TMPDIR=${home}`,
    ...node,
  ];
  return (await promisify(execFile)('setpriv', args, { cwd: ROOT, timeout: 60_000 })).stdout;
}

/** A checkout in root's own folder cannot be read by anybody else. */
async function nobodyCanRead(): Promise<boolean> {
  try {
    await asNobody(`import './src/sandbox/index.ts'`);
    return true;
  } catch {
    return false;
  }
}

const isRoot = process.getuid?.() === 0;
const reason = !isRoot ? 'not run by root' : (await nobodyCanRead()) ? '' : 'nobody cannot read this checkout';

describe.skipIf(noJail || reason !== '')(`nobody${whyNot || (reason && ` (skipped: ${reason})`)}`, () => {
  test('finds that the jail holds', async () => {
    const script = `
      import { probeSandbox } from './src/sandbox/index.ts';
      console.log(JSON.stringify(await probeSandbox()));
    `;
    const probe = JSON.parse(await asNobody(script)) as { available: boolean; checks: { name: string; ok: boolean }[] };
    expect(probe.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(probe.available).toBe(true);
  });

  test('drives a jailed Chromium to a listed page and shares a scratch folder with a jailed program', async () => {
    const script = `
      import { createServer } from 'node:http';
      import { readFileSync, writeFileSync } from 'node:fs';
      import { once } from 'node:events';
      import { launchJailedBrowser } from './src/repl/index.ts';
      import { createEgressProxy, createScratchFolder, jailNode, probeSandbox, spawnJailed } from './src/sandbox/index.ts';
      const site = createServer((_, response) => response.end('<title>here</title>')).listen(0, '127.0.0.1');
      await once(site, 'listening');
      const { port } = site.address();
      const scratch = createScratchFolder();
      writeFileSync(scratch.folder + '/in', 'text');
      const node = jailNode();
      const cell = spawnJailed({
        command: node.command, args: ['-e', "fs.writeFileSync('/tmp/out', fs.readFileSync('/tmp/in') + '!')"],
        stdio: ['ignore', 'ignore', 'inherit'], readOnly: node.readOnly, scratch,
      });
      await cell.ended;
      const egress = await createEgressProxy({ rules: [{ host: '127.0.0.1', port }] });
      const browser = await launchJailedBrowser({ probe: await probeSandbox(), egress, scratch });
      const page = await browser.newPage({ viewport: { width: 300, height: 200 } });
      const { signal } = new AbortController();
      await page.navigate('http://127.0.0.1:' + port + '/', { signal });
      console.log(JSON.stringify([await page.evaluate('document.title', { signal }), readFileSync(scratch.folder + '/out', 'utf8')]));
      await browser[Symbol.asyncDispose]();
      await egress[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
      site.close();
    `;
    expect(JSON.parse(await asNobody(script))).toEqual(['here', 'text!']);
  });
});
