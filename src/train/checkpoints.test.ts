import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TabwrightError, type ProgressEvent, type Trainer } from '../core/index.ts';
import { createRun, type RunFolder } from '../store/index.ts';
import { createFakeTrainer, toyModel } from '../testing/index.ts';
import { loadLastCheckpoint, saveCheckpoint } from './checkpoints.ts';

const signal = new AbortController().signal;

describe('saveCheckpoint', () => {
  let dir = '';
  let run: RunFolder;
  /** Saves as the embedded engine does: a folder. */
  const trainer: Trainer = {
    ...createFakeTrainer(toyModel()),
    saveState: async (path) => {
      await mkdir(path, { recursive: true });
      return path;
    },
    removeState: (path) => rm(path, { recursive: true, force: true }),
    loadState: async (path) => {
      if (damaged.some((name) => path.endsWith(name)))
        throw new TabwrightError('store', `${path} is cut.`, { code: 'cut' });
    },
  };
  let damaged: string[] = [];
  async function load({ stage = 'grpo' } = {}) {
    const warnings: string[] = [];
    const listener = (event: ProgressEvent) => event.kind === 'note' && warnings.push(event.message);
    return { record: await loadLastCheckpoint({ run, trainer, stage, listener, signal }), warnings };
  }
  beforeEach(async () => {
    damaged = [];
    dir = await mkdtemp(join(tmpdir(), 'checkpoints-'));
    run = await createRun(join(dir, 'run'), { config: {} });
  });
  afterEach(async () => {
    await run[Symbol.asyncDispose]();
    await rm(dir, { recursive: true, force: true });
  });

  it('keeps the last two of a stage and all of the others, and records each', async () => {
    await saveCheckpoint({ run, trainer, stage: 'sft', batch: 9, final: true, signal });
    for (const batch of [1, 2, 3, 4]) {
      await saveCheckpoint({ run, trainer, stage: 'grpo', batch, final: batch === 4, signal });
    }
    const folders = (await readdir(join(run.dir, 'checkpoints'))).sort();
    expect(folders).toEqual(['grpo-000003', 'grpo-000004', 'sft-000009']);
    expect(await run.readCheckpoints()).toHaveLength(5);
    const loaded = await load();
    expect(loaded.record).toMatchObject({ batch: 4, final: true, state_path: 'grpo-000004' });
    expect(loaded.warnings).toEqual([]);
    expect((await load({ stage: 'other' })).record).toBeUndefined();
  });

  it('records nothing when saving failed, so that the one before stays the last', async () => {
    await saveCheckpoint({ run, trainer, stage: 'grpo', batch: 1, signal });
    const failing: Trainer = { ...trainer, saveState: () => Promise.reject(new Error('disk full')) };
    await expect(saveCheckpoint({ run, trainer: failing, stage: 'grpo', batch: 2, signal })).rejects.toThrow(
      'disk full',
    );
    expect((await load()).record).toMatchObject({ batch: 1 });
  });

  it('goes on from the one before when the last cannot be read, with a warning that names both', async () => {
    for (const batch of [1, 2, 3]) await saveCheckpoint({ run, trainer, stage: 'grpo', batch, signal });
    damaged = ['grpo-000003'];
    const { record, warnings } = await load();
    expect(record).toMatchObject({ batch: 2 });
    expect(warnings).toEqual([expect.stringMatching(/going on from grpo-000002: .*grpo-000003 is cut/)]);
    await saveCheckpoint({ run, trainer, stage: 'grpo', batch: 3, signal });
    expect((await load()).record).toMatchObject({ batch: 2 });
  });

  it('gives up with the failure of the last when none of those kept can be read', async () => {
    for (const batch of [1, 2, 3]) await saveCheckpoint({ run, trainer, stage: 'grpo', batch, signal });
    damaged = ['grpo-000003', 'grpo-000002'];
    await expect(load()).rejects.toThrow(/grpo-000003 is cut/);
  });
});
