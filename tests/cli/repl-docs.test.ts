// `tabwright repl docs`: the reference in the repository is what the methods say, and differences are told.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { referencePage } from '../../src/repl/index.ts';
import { runCli } from './run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-repl-docs-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('the reference in the repository is what the methods say', async () => {
  expect(await readFile('docs/reference/repl.md', 'utf8')).toBe(referencePage());
});

it('writes the page, and fails the check when it differs', { timeout: 60_000 }, async () => {
  const page = join(folder, 'reference', 'repl.md');
  expect((await runCli(['repl', 'docs', '--page', page])).code).toBe(0);
  expect((await runCli(['repl', 'docs', '--check', '--page', page])).code).toBe(0);
  await writeFile(page, `${referencePage()}more`);
  const differs = await runCli(['repl', 'docs', '--check', '--page', page]);
  expect([differs.code, differs.stderr]).toEqual([2, expect.stringContaining('is not what the methods say')]);
});

it('compares with a published reference, and says what is there alone', { timeout: 60_000 }, async () => {
  const other = join(folder, 'other.md');
  await writeFile(other, `${referencePage().replace('### `click(', '### `tap(')}\n### \`wait(seconds)\`\n`);
  const { code, stdout } = await runCli(['repl', 'docs', '--sync', other, '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    differences: [
      { kind: 'missing-there', method: 'click' },
      { kind: 'missing-here', method: 'tap' },
      { kind: 'missing-here', method: 'wait' },
    ],
  });
  expect((await runCli(['repl', 'docs', '--sync', join(folder, 'none.md')])).code).toBe(2);
});

it('compares with an address, and says what is wrong with one that gives nothing', { timeout: 60_000 }, async () => {
  const server = createServer((request, response) =>
    request.url === '/reference.md'
      ? response.end(`${referencePage()}### \`wait(seconds)\`\n`)
      : response.writeHead(404).end(),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const found = await runCli(['repl', 'docs', '--sync', `${at}/reference.md`, '--json']);
  const missing = await runCli(['repl', 'docs', '--sync', `${at}/none.md`]);
  server.close();
  expect(JSON.parse(found.stdout)).toMatchObject({ differences: [{ kind: 'missing-here', method: 'wait' }] });
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('status 404')]);
});
