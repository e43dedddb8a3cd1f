// What the conformance run says of a part that could not run: in the full run it has failed, in the quick one, which is part
// of every check-in, it is a line that says why.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PARTS } from '../../conformance/parts.ts';

/** Without a Python nothing can run. */
async function conformance(...args: readonly string[]): Promise<{ code: unknown; lines: readonly string[] }> {
  const cache = await mkdtemp(join(tmpdir(), 'tabwright-no-python-'));
  const env = { ...process.env, TABWRIGHT_PYTHON: join(cache, 'nothing'), TABWRIGHT_CONFORMANCE_DIR: cache };
  const command = ['--import', 'tsx', 'conformance/main.ts', ...args];
  const result = await new Promise<{ code: unknown; stdout: string }>((resolve) => {
    execFile(process.execPath, command, { env }, (error, stdout) => resolve({ code: error?.code ?? 0, stdout }));
  });
  await rm(cache, { recursive: true, force: true });
  return { code: result.code, lines: result.stdout.trim().split('\n') };
}

it('in the full run it counts as failed', { timeout: 120_000 }, async () => {
  const { code, lines } = await conformance();
  expect([code, lines.at(-1)]).toEqual([1, `0 passed, ${PARTS.length} failed`]);
  expect(lines.filter((line) => /^FAIL .* could not be made .*No Python/.test(line))).toHaveLength(PARTS.length);
});

it('in the quick run it says why', { timeout: 120_000 }, async () => {
  const { code, lines } = await conformance('--quick');
  const quick = PARTS.filter((part) => part.quick).length;
  expect([code, lines.at(-1)]).toEqual([0, '0 passed, 0 failed']);
  expect(lines.filter((line) => /^skip .* could not be made .*No Python/.test(line))).toHaveLength(quick);
});
