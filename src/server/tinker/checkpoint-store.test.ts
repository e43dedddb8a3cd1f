import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CheckpointStore, type SaveOptions } from './checkpoint-store.ts';

const AT = { runId: 's:train:0', kind: 'weights', name: 'a' } as const;
let root: string;
let now: number;
let store: CheckpointStore;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tabwright-checkpoints-'));
  now = 1_000_000;
  store = await CheckpointStore.open(root, () => now);
  await store.addRun({ version: 1, runId: AT.runId, sessionId: 's', baseModel: 'm', createdAt: 'now' });
});
afterEach(() => rm(root, { recursive: true, force: true }));

function content(text: string, more: Partial<SaveOptions> = {}): SaveOptions {
  const write = async (folder: string): Promise<void> => {
    await mkdir(folder);
    await writeFile(join(folder, 'weights'), text);
  };
  return { ...AT, content: text, overwrite: true, write, ...more };
}

/** What lies where the record says. */
async function stored(): Promise<string> {
  return readFile(join(store.get(AT).folder, 'weights'), 'utf8');
}

test('a name that is saved anew while its old content expires keeps the new one', async () => {
  await store.save(content('old', { ttlSeconds: 1 }));
  now += 2_000;
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const { write } = content('new');
  const saving = store.save(content('new', { write: async (folder) => (await write(folder), gate) }));
  const sweeping = store.sweep();
  const file = join(root, 's%3Atrain%3A0', 'weights', 'a.json');
  // Ten trips to the disk, where a sweep that did not wait would need one.
  for (let trip = 0; trip < 10; trip++) expect(await readFile(file, 'utf8')).toContain('"old"');
  open();
  await Promise.all([saving, sweeping]);
  expect(await stored()).toBe('new');
  const again = await CheckpointStore.open(root, () => now);
  expect(again.find(AT)?.record.content).toBe('new');
});

test('whatever happens to a name at one time, its record tells of content that is there', async () => {
  await store.save(content('0'));
  for (let round = 1; round <= 6; round++) {
    await Promise.all([
      store.setTtl(AT, 60 + round),
      store.save(content(`${round}`)),
      store.setPublic(AT, round % 2 === 0),
      store.sweep(),
      store.save(content(`${round} again`)),
      store.setTtl(AT, null),
    ]);
    expect(await stored()).toBe(`${round} again`);
    expect(store.get(AT).record).not.toHaveProperty('expiresAt');
    expect(JSON.parse(await readFile(join(root, 's%3Atrain%3A0', 'weights', 'a.json'), 'utf8'))).toEqual(
      store.get(AT).record,
    );
  }
});

test('whoever reads content that goes meanwhile is told so, and of any other failure as it is', async () => {
  await store.save(content('old'));
  const before = store.get(AT);
  const read = (): Promise<string> => store.reading(before, (folder) => readFile(join(folder, 'weights'), 'utf8'));
  expect(await read()).toBe('old');
  await expect(store.reading(before, () => Promise.reject(new Error('of its own')))).rejects.toThrow('of its own');
  await store.save(content('new'));
  await expect(read()).rejects.toMatchObject({
    code: 'user-fault',
    message: expect.stringMatching(/^The weights that tinker:\/\/s:train:0\/weights\/a .* saved anew/) as string,
  });
  expect(await stored()).toBe('new');
});
