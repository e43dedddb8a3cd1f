// The runtime must keep to itself: loaded and run in a process of its own, it leaves nothing in the temp folder.

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('ONNX Runtime writes no telemetry files', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tabwright-telemetry-'));
  try {
    const engine = fileURLToPath(new URL('./index.ts', import.meta.url));
    const code = `const { measureMatmulRate } = await import(${JSON.stringify(engine)}); await measureMatmulRate();`;
    await promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type', 'module', '-e', code], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { PATH: process.env['PATH'], TMPDIR: folder },
    });
    // tsx keeps its cache there.
    const left = (await readdir(folder)).filter((name) => !name.startsWith('tsx-'));
    expect(left).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
