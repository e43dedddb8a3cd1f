// What `model export` may replace and copy: an earlier export of the same kind and nothing else, never what it reads, and of
// a stranger's model folder only files with known names that lie in it.

import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { modelExport } from '../../src/cli/commands/model.ts';
import { addCommand } from '../../src/cli/run-command.ts';
import { writePeftAdapter } from '../../src/engine/index.ts';

const FIXTURE = fileURLToPath(new URL('../../src/engine/fixtures/llama/', import.meta.url));
const VOCABULARY = 64;

let folder = '';
let base = '';

const at = (...names: string[]): string => join(folder, ...names);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-places-'));
  base = at('models', 'base');
  await mkdir(base, { recursive: true });
  for (const name of ['config.json', 'model.safetensors']) await cp(join(FIXTURE, name), join(base, name));
  const vocab = Object.fromEntries(
    Array.from({ length: VOCABULARY - 1 }, (_, i) => [String.fromCodePoint(0x21 + i), i]),
  );
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const tokenizer = {
    added_tokens: [{ id: VOCABULARY - 1, content: '<|end|>', special: true }],
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel] },
    model: { type: 'BPE', vocab, merges: [] },
  };
  await writeFile(join(base, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(at('models', 'precious.txt'), 'x');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Nothing, or what the command that was refused said. */
async function refusal(...args: readonly string[]): Promise<string> {
  const program = new Command('tabwright').exitOverride();
  addCommand(program, modelExport);
  let said = '';
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    }),
  );
  try {
    await program.parseAsync(['export', ...args], { from: 'user' });
    return process.exitCode === undefined || process.exitCode === 0 ? '' : said;
  } finally {
    process.exitCode = 0;
    for (const spy of spies) spy.mockRestore();
  }
}

const everything = async (): Promise<readonly string[]> => (await readdir(folder, { recursive: true })).sort();

it('replaces an earlier export of the same kind, and only where it is asked to', async () => {
  for (const target of [
    ['--merged', at('merged')],
    ['--gguf', at('model.gguf')],
  ]) {
    expect(await refusal('--base', base, ...target)).toBe('');
    expect(await refusal('--base', base, ...target)).toContain('exists already');
    expect(await refusal('--base', base, ...target, '--replace')).toBe('');
  }
  expect(await everything()).toEqual(
    (
      'merged merged/config.json merged/model.safetensors merged/tokenizer.json model.gguf models models/base ' +
      'models/base/config.json models/base/model.safetensors models/base/tokenizer.json models/precious.txt'
    ).split(' '),
  );
});

it('replaces nothing that is not wholly an export of that kind', async () => {
  await mkdir(at('full', 'deep'), { recursive: true });
  await mkdir(at('empty'));
  await mkdir(at('part'));
  await writeFile(at('part', 'tokenizer.json'), '{}');
  await mkdir(at('more'));
  await cp(base, at('more'), { recursive: true });
  await writeFile(at('more', 'notes.txt'), 'x');
  await writeFile(at('text'), 'words');
  await symlink(at('text'), at('link'));
  const before = await everything();
  const cases = [
    ['--gguf', 'full', 'a folder'],
    ['--gguf', 'text', 'another file'],
    ['--gguf', 'link', 'a link or a device'],
    ['--merged', 'full', 'a folder with deep'],
    ['--merged', 'empty', 'a folder without config.json'],
    ['--merged', 'part', 'a folder without config.json'],
    ['--merged', 'more', 'a folder with notes.txt'],
    ['--merged', 'text', 'a file'],
  ] as const;
  for (const [kind, name, what] of cases) {
    const said = await refusal('--base', base, kind, at(name), '--replace');
    expect(said, name).toContain(`but ${what}. Give another place`);
  }
  expect(await everything()).toEqual(before);
});

it('writes nowhere that is, holds or lies in what it reads, by whatever name', async () => {
  await symlink(at('models'), at('other-name'));
  await symlink(base, at('base-link'));
  const adapter = at('adapter');
  const tensors = [
    { name: 'model.layers.0.self_attn.q_proj.lora_A.weight', shape: [1, 32], data: new Float32Array(32) },
    { name: 'model.layers.0.self_attn.q_proj.lora_B.weight', shape: [32, 1], data: new Float32Array(32) },
  ];
  await writePeftAdapter({ path: adapter, tensors, rank: 1, alpha: 1, baseModel: null });
  const before = await everything();
  const places = [
    ['--merged', at('models')],
    ['--merged', base],
    ['--merged', join(base, 'sub', 'folder')],
    ['--merged', at('base-link')],
    ['--merged', at('other-name', 'base', 'sub')],
    ['--gguf', join(base, 'model.gguf')],
    ['--gguf', at('other-name')],
  ] as const;
  for (const [kind, place] of places) {
    const said = await refusal('--base', base, kind, place, '--replace');
    expect(said, place).toContain('which is read for it');
  }
  for (const place of [adapter, join(adapter, 'sub')]) {
    expect(await refusal('--from', adapter, '--adapter', place, '--replace'), place).toContain('which is read for it');
    expect(await refusal('--base', base, '--from', adapter, '--merged', place, '--replace'), place).toContain(
      'which is read for it',
    );
  }
  expect(await everything()).toEqual(before);
  expect(await refusal('--from', adapter, '--adapter', at('second'))).toBe('');
  expect(await refusal('--from', adapter, '--adapter', at('second'), '--replace')).toBe('');
  expect(await refusal('--base', base, '--gguf', at('a.gguf'))).toBe('');
  expect(await refusal('--base', `gguf:${at('a.gguf')}`, '--gguf', at('a.gguf'), '--replace')).toContain('is read');
});

it('names a broken file of the model, and what stands in the place of one', async () => {
  await writeFile(join(base, 'tokenizer_config.json'), 'nope');
  const config = join(base, 'tokenizer_config.json');
  expect(await refusal('--base', base, '--gguf', at('a.gguf'))).toContain(`error: ${config} is not JSON`);
  await rm(config);
  await mkdir(config);
  expect(await refusal('--base', base, '--merged', at('merged'))).toContain(`error: ${config} is no file`);
  await rm(config, { recursive: true });
  await writeFile(join(base, 'tokenizer.json'), '{broken');
  expect(await refusal('--base', base, '--gguf', at('a.gguf'))).toContain('tokenizer.json is not JSON');
});

it('copies known files alone, and follows no link out of the model', async () => {
  await writeFile(at('secret'), 'secret');
  await symlink(at('secret'), join(base, 'tokenizer_secret.json'));
  expect(await refusal('--base', base, '--merged', at('merged'))).toBe('');
  expect((await readdir(at('merged'))).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
  await symlink(at('secret'), join(base, 'chat_template.jinja'));
  for (const kind of ['--merged', '--gguf']) {
    expect(await refusal('--base', base, kind, at('other'))).toContain(`is a link to ${at('secret')}, out of`);
  }
});

it("takes the links of a hub's cache into its own blobs, and no others", async () => {
  const cache = at('hub');
  const snapshot = join(cache, 'snapshots', 'c0ffee');
  await mkdir(snapshot, { recursive: true });
  await mkdir(join(cache, 'blobs'));
  for (const name of await readdir(base)) {
    await cp(join(base, name), join(cache, 'blobs', `b-${name}`));
    await symlink(`../../blobs/b-${name}`, join(snapshot, name));
  }
  expect(await refusal('--base', snapshot, '--merged', at('merged'))).toBe('');
  expect(await readFile(at('merged', 'tokenizer.json'), 'utf8')).toBe(
    await readFile(join(base, 'tokenizer.json'), 'utf8'),
  );
  await symlink('../../../models/precious.txt', join(snapshot, 'merges.txt'));
  expect(await refusal('--base', snapshot, '--merged', at('again'))).toContain('precious.txt, out of');
});
