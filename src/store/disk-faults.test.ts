// A disk that takes no more: a child process runs under a file size limit, so that writes are cut short by the
// kernel in the middle of a line, as a full disk does it. What was there before must still be there afterwards.

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TabwrightError } from '../core/index.ts';
import { createRun, readRun, resumeRun } from './index.ts';
import { toStoreError } from './store-error.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tabwright-faults-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Runs `fixtures/write-until-full.ts` with files limited to 64 KiB; its output says how it ended. */
async function writeUntilFull(dir: string): Promise<{ rows: number; appendCode: string; rolloutsCode: string }> {
  const script = fileURLToPath(new URL('./fixtures/write-until-full.ts', import.meta.url));
  // ulimit counts blocks of 512 bytes in a POSIX sh and of 1024 in bash; either limit is far above one row.
  const command = 'ulimit -f 64 && exec "$0" --import tsx "$1" "$2"';
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, script, dir], {
    env: { ...process.env, TSX_DISABLE_CACHE: '1' },
  });
  return JSON.parse(stdout) as { rows: number; appendCode: string; rolloutsCode: string };
}

test('a write that is cut short leaves every earlier row and file, and the run can be resumed', async () => {
  const dir = join(root, 'run');
  const { rows, appendCode, rolloutsCode } = await writeUntilFull(dir);
  expect(appendCode).toBe('file-too-large');
  expect(rolloutsCode).toBe('file-too-large');
  expect(rows).toBeGreaterThan(50);

  await using run = await resumeRun(dir, { config: {} });
  expect((await run.readMetrics()).map((row) => row.step)).toEqual(Array.from({ length: rows }, (_, i) => i));
  expect(await run.readRollouts('kept')).toEqual([]);
  expect(await readdir(join(dir, 'rollouts'))).toEqual(['kept.jsonl', 'screenshots']);
  run.appendMetrics({ stage: 'rl', step: rows });
  expect((await run.readMetrics()).length).toBe(rows + 1);
});

test('a folder whose name holds a NUL is refused with what to do', async () => {
  await expect(createRun(join(root, 'a\0b'), { config: {} })).rejects.toMatchObject({
    boundary: 'store',
    code: 'bad-path',
    message: expect.stringMatching(/Choose another folder with --out\.$/) as string,
  });
});

test('a damaged config is refused as damaged, not as missing', async () => {
  const dir = join(root, 'run');
  await (await createRun(dir, { config: { seed: 1 } }))[Symbol.asyncDispose]();
  await truncate(join(dir, 'config.json'), 30);
  await expect(readRun(dir)).rejects.toMatchObject({ code: 'corrupted-file' });
});

test.each([
  ['ENOSPC', 'disk-full'],
  ['EDQUOT', 'disk-full'],
  ['EACCES', 'permission-denied'],
  ['EROFS', 'permission-denied'],
  ['ELOOP', 'bad-path'],
  ['EIO', 'file-system'],
])('%s of the system is %s of the store', (system, code) => {
  const cause = Object.assign(new Error(`${system}: something`), { code: system });
  const error = toStoreError({ doing: 'write', path: '/runs/a/metrics.jsonl' }, cause);
  expect(error).toBeInstanceOf(TabwrightError);
  expect(error).toMatchObject({ boundary: 'store', code, details: { path: '/runs/a/metrics.jsonl' }, cause });
  expect(error.message).toMatch(/^Cannot write \/runs\/a\/metrics\.jsonl/);
});
