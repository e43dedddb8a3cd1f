// An output that takes long meets what was put in its place meanwhile.

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeOutputFolder } from './output-folder.ts';
import { PEFT_FOLDER } from './output-place.ts';

let folder = '';
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'tabwright-output-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

it.each([
  [false, 'output-exists'],
  [true, 'output-not-ours'],
])('what came while it was written is kept (overwrite: %s)', async (overwrite, code) => {
  const path = join(folder, 'out');
  const writing = writeOutputFolder({ path, overwrite, kind: PEFT_FOLDER }, async (temporary) => {
    await writeFile(join(temporary, 'adapter_config.json'), '{}');
    await mkdir(path);
    await writeFile(join(path, 'precious.txt'), 'x');
  });
  await expect(writing).rejects.toMatchObject({ code });
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(['out', 'out/precious.txt']);
});
