// A process that ends in the middle of replacing a saved folder: the file system's calls are carried out up to a
// number, and the one after never comes back, as if the process had been killed there.

import { mkdtemp, readdir } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAdamState } from './adam.ts';
import { loadModel, loadTrainerState, saveModel, saveTrainerState, type TrainerState } from './checkpoint.ts';
import { TINY } from './test-support.ts';
import { initWeights } from './weights.ts';

const life = vi.hoisted(() => ({ callsLeft: Infinity, onEnd: (): void => undefined }));

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  const mortal =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      if (life.callsLeft-- > 0) return call(...args);
      life.onEnd();
      return new Promise(() => undefined);
    };
  const { mkdir, rename, rm, writeFile } = real;
  return { ...real, mkdir: mortal(mkdir), rename: mortal(rename), rm: mortal(rm), writeFile: mortal(writeFile) };
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-crash-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Does `work` in a process that ends before its call number `calls`, counted from 0. True when it came to its end. */
async function within(calls: number, work: () => Promise<void>): Promise<boolean> {
  const ended = new Promise<boolean>((resolve) => (life.onEnd = () => resolve(false)));
  life.callsLeft = calls;
  try {
    return await Promise.race([work().then(() => true), ended]);
  } finally {
    life.callsLeft = Infinity;
  }
}

/** For every number of calls up to the whole: saves A, begins to save B in a process that ends there, reads. */
async function readAfterEachCrash(
  save: (path: string, which: 'A' | 'B') => Promise<void>,
  read: (path: string) => Promise<string>,
): Promise<string[]> {
  const found: string[] = [];
  for (let calls = 0, whole = false; !whole; calls++) {
    const path = join(folder, String(calls), 'saved');
    await save(path, 'A');
    whole = await within(calls, () => save(path, 'B'));
    found.push(await read(path));
    await save(path, 'B');
    expect(await read(path)).toBe('B');
    const names = await readdir(join(folder, String(calls)));
    expect(names.filter((name) => !name.endsWith('.partial'))).toEqual(['saved']);
  }
  return found;
}

// folder, files, config; then: remove what is aside, set aside, rename into place, remove what is aside
const MODEL = ['A', 'A', 'A', 'A', 'A', 'A', 'B', 'B'];

test('a model that is being replaced is the old or the new one wherever the process ends', async () => {
  const weights = { A: initWeights(TINY, 1), B: initWeights(TINY, 2) };
  const found = await readAfterEachCrash(
    (path, which) => saveModel(path, TINY, weights[which]),
    async (path) => ((await loadModel(path)).weights.flat[0] === weights.A.flat[0] ? 'A' : 'B'),
  );
  expect(found).toEqual(MODEL);
});

test('so is the state of a trainer', async () => {
  const state = (seed: number): TrainerState => {
    const base = initWeights(TINY, seed);
    const adam = { ...createAdamState(base.flat.length), step: seed };
    return { config: TINY, base, adapters: undefined, lora: undefined, adam };
  };
  const found = await readAfterEachCrash(
    (path, which) => saveTrainerState(path, state(which === 'A' ? 1 : 2)),
    async (path) => {
      const read = state(3);
      await loadTrainerState(path, read);
      return read.adam.step === 1 ? 'A' : 'B';
    },
  );
  expect(found).toEqual(['A', ...MODEL]); // one file more
});
