// Archives as Tinker's servers send them, and archives that mean harm.

import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unpackAdapterArchive } from './adapter-archive.ts';
import { readPeftAdapter, writePeftAdapter } from './peft-adapter.ts';

let folder = '';
let archive = '';
let path = '';
let files: Map<string, Buffer>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-archive-'));
  [archive, path] = [join(folder, 'checkpoint.tar.gz'), join(folder, 'adapter')];
  const tensor = (half: string, shape: number[]) => ({
    name: `model.layers.0.self_attn.q_proj.lora_${half}.weight`,
    shape,
    data: Float32Array.from({ length: shape[0] * shape[1] }, (_, i) => i - 2),
  });
  const made = join(folder, 'made');
  await writePeftAdapter({
    path: made,
    tensors: [tensor('A', [2, 3]), tensor('B', [4, 2])],
    rank: 2,
    alpha: 32,
    baseModel: 'a/b',
  });
  files = new Map();
  for (const name of await readdir(made)) files.set(name, await readFile(join(made, name)));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Entry = {
  readonly name: string;
  readonly type?: 'directory' | 'symlink' | 'link' | 'character-device' | 'fifo';
  readonly linkname?: string;
  readonly data?: Buffer;
};
const plain = (): Entry[] => [...files].map(([name, data]) => ({ name, data }));

async function writeTar(entries: readonly Entry[], gzipped = true): Promise<void> {
  const tar = pack();
  for (const { data, ...header } of entries) tar.entry(header, data ?? Buffer.alloc(0));
  tar.finalize();
  if (gzipped) await pipeline(tar, createGzip(), createWriteStream(archive));
  else await pipeline(tar, createWriteStream(archive));
}

describe('unpackAdapterArchive', () => {
  it.each([true, false])('makes the PEFT folder that is in it (gzipped: %s)', async (gzipped) => {
    await writeTar(plain(), gzipped);
    await unpackAdapterArchive({ archive, path });
    expect((await readdir(path)).sort()).toEqual([...files.keys()].sort());
    expect(await readPeftAdapter(path)).toMatchObject({ rank: 2, alpha: 32, baseModel: 'a/b' });
  });

  it('takes only the two files, from one folder inside too', async () => {
    const entries = plain().map(({ name, data }) => ({ name: `./ckpt/${name}`, data }));
    const rest: Entry[] = [
      { name: 'ckpt', type: 'directory' },
      { name: 'ckpt/README.md', data: Buffer.from('hello') },
      { name: 'ckpt/deep/er/adapter_config.json', data: Buffer.from('{}') },
    ];
    await writeTar([...rest, ...entries]);
    await unpackAdapterArchive({ archive, path });
    expect((await readdir(path)).sort()).toEqual([...files.keys()].sort());
  });

  it("reads a server's config without target_modules, which PEFT itself would read wrongly", async () => {
    const config = JSON.parse(files.get('adapter_config.json')!.toString()) as Record<string, unknown>;
    files.set('adapter_config.json', Buffer.from(JSON.stringify({ ...config, target_modules: null })));
    await writeTar(plain());
    await unpackAdapterArchive({ archive, path });
    expect((await readPeftAdapter(path)).tensors).toHaveLength(2);
  });

  it.each<[string, Entry, RegExp]>([
    ['a path upwards', { name: '../adapter_config.json', data: Buffer.from('{}') }, /leads out of its folder/],
    ['a hidden path upwards', { name: 'a/../../x', data: Buffer.from('x') }, /leads out of its folder/],
    ['an absolute path', { name: '/tmp/x', data: Buffer.from('x') }, /leads out of its folder/],
    ['a path of Windows', { name: 'C:\\x', data: Buffer.from('x') }, /leads out of its folder/],
    ['a symbolic link', { name: 'adapter_config.json', type: 'symlink', linkname: '/etc/passwd' }, /is a symlink/],
    ['a hard link', { name: 'x', type: 'link', linkname: '/etc/passwd' }, /is a link/],
    ['a device', { name: 'x', type: 'character-device' }, /is a character-device/],
    ['a named pipe', { name: 'x', type: 'fifo' }, /is a fifo/],
    ['a file twice', { name: 'sub/adapter_config.json', data: Buffer.from('{}') }, /two files adapter_config.json/],
    ['a config of megabytes', { name: 'adapter_config.json', data: Buffer.alloc(2 << 20) }, /has 2097152 bytes/],
  ])('refuses an archive with %s and leaves nothing', async (_what, entry, message) => {
    const first = entry.name.startsWith('adapter_config') ? [entry] : [...plain(), entry];
    await writeTar(first);
    const unpacked = unpackAdapterArchive({ archive, path });
    await expect(unpacked).rejects.toMatchObject({ code: 'bad-archive' });
    await expect(unpacked).rejects.toThrow(message);
    expect((await readdir(folder)).sort()).toEqual(['checkpoint.tar.gz', 'made']);
  });

  it(
    'refuses bombs: small files that unpack to more than is taken, whether they say so or not',
    { timeout: 120_000 },
    async () => {
      await writeTar([...plain(), { name: 'zeros', data: Buffer.alloc(5 << 20) }]);
      await expect(unpackAdapterArchive({ archive, path, maxBytes: 1 << 20 })).rejects.toThrow(
        /"zeros" has 5242880 bytes/,
      );
      await writeFile(archive, gzipSync(Buffer.alloc(16 << 20)));
      await expect(unpackAdapterArchive({ archive, path, maxBytes: 1 << 20 })).rejects.toMatchObject({
        code: 'bad-archive',
      });
      await writeTar(Array.from({ length: 1001 }, (_, i) => ({ name: `f${i}`, data: Buffer.alloc(0) })));
      await expect(unpackAdapterArchive({ archive, path })).rejects.toThrow(/more than 1000 entries/);
    },
  );

  it('refuses what is cut short, is no tar, or holds no adapter', async () => {
    await writeTar(plain());
    const whole = await readFile(archive);
    await writeFile(archive, whole.subarray(0, whole.length / 2));
    await expect(unpackAdapterArchive({ archive, path })).rejects.toMatchObject({ code: 'bad-archive' });
    await writeFile(archive, 'hello');
    await expect(unpackAdapterArchive({ archive, path })).rejects.toMatchObject({ code: 'bad-archive' });
    await writeTar(plain().slice(0, 1));
    await expect(unpackAdapterArchive({ archive, path })).rejects.toThrow(/has no adapter_/);
    await writeTar([...plain().slice(1), { name: 'adapter_config.json', data: Buffer.from('{}') }]);
    await expect(unpackAdapterArchive({ archive, path })).rejects.toMatchObject({ code: 'bad-adapter' });
    expect(await readdir(folder)).not.toContain('adapter');
    await symlink('/nowhere', join(folder, 'gone'));
    await expect(unpackAdapterArchive({ archive: join(folder, 'gone'), path })).rejects.toThrow(/ENOENT/);
  });
});
