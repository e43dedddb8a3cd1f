import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkOverwrite } from './overwrite-guard.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-overwrite-'));
  await mkdir(join(folder, 'run', 'checkpoints', 'model'), { recursive: true });
  await mkdir(join(folder, 'run-2'));
  await symlink(join(folder, 'run'), join(folder, 'link'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it.each(['run', 'run/checkpoints/model', 'link', 'run-2/../run'])(
  'refuses to delete %s, which is read',
  async (read) => {
    const check = checkOverwrite(join(folder, 'run'), [undefined, join(folder, read)]);
    await expect(check).rejects.toMatchObject({ code: 'overwrite-of-input' });
  },
);

it('lets others pass: a neighbour whose name begins alike, a model that ships, an --out that is new', async () => {
  await checkOverwrite(join(folder, 'run'), [join(folder, 'run-2'), 'nano', folder]);
  await checkOverwrite(join(folder, 'new'), [join(folder, 'run')]);
});
