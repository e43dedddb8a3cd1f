// Run folders on a real disk: what is written comes back, what must be refused is refused, a crash loses nothing.

import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Trajectory } from '../core/index.ts';
import { createRun, readRun, resumeRun } from './index.ts';

const CONFIG = { seed: 7, env: 'click-checkboxes', sizes: { episodes: 200 } };
let root: string;
let dir: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tabwright-store-'));
  dir = join(root, 'run');
});
afterEach(() => rm(root, { recursive: true, force: true }));

function trajectory(seed: number, logprob = -0.5): Trajectory {
  return {
    task: {
      id: `click-checkboxes/${seed}`,
      env: 'click-checkboxes',
      instruction: 'Select nothing and click Submit.',
      seed,
    },
    member: 0,
    turns: [
      {
        promptTokens: [1, 2, 3],
        actionTokens: [4, 5],
        logprobs: [logprob, -0.25],
        samplerVersion: 0,
        stop: 'stop',
        action: { kind: 'call', tool: 'click', args: { target: 3 } },
        page: 'button "Submit" [3]',
        nextPage: 'button "Submit" [3]',
        changed: false,
        info: { effect: 'submitted' },
      },
    ],
    outcome: { kind: 'finished', success: true, reward: 1, stop: 'submitted', details: { boxes: 2, wrong: 0 } },
    seconds: 0.25,
  };
}

describe('a run folder', () => {
  test('gives back what was written into it', async () => {
    await using run = await createRun(dir, { config: CONFIG, now: () => 0 });
    run.appendMetrics({ stage: 'sft', step: 0, 'optim/lr': 0.001 });
    run.appendMetrics({ stage: 'sft', step: 1, 'optim/lr': 0.0005 });
    run.appendEvent({ kind: 'note', level: 'info', message: 'hello' });
    run.appendCheckpoint({ name: 'sft-final', batch: 2, stage: 'sft', state_path: 'sft-final' });
    await run.writeRollouts('eval-base', [trajectory(1), trajectory(2)]);
    await run.writeScreenshot('eval-base-1-0.png', new Uint8Array([137, 80, 78, 71]));
    await run.writeState('progress', { stage: 'sft', step: 2 });

    const reader = await readRun(dir);
    expect(reader.config).toEqual(CONFIG);
    expect(await reader.readMetrics()).toEqual([
      { stage: 'sft', step: 0, 'optim/lr': 0.001 },
      { stage: 'sft', step: 1, 'optim/lr': 0.0005 },
    ]);
    expect(await reader.readEvents()).toEqual([
      { kind: 'note', level: 'info', message: 'hello', time: '1970-01-01T00:00:00.000Z' },
    ]);
    expect(await reader.readCheckpoints()).toEqual([
      { name: 'sft-final', batch: 2, stage: 'sft', state_path: 'sft-final' },
    ]);
    expect(await reader.listRollouts()).toEqual(['eval-base']);
    expect(await reader.readRollouts('eval-base')).toEqual([trajectory(1), trajectory(2)]);
    expect([...(await reader.readScreenshot('eval-base-1-0.png'))]).toEqual([137, 80, 78, 71]);
    expect(await reader.readState('progress')).toEqual({ stage: 'sft', step: 2 });
  });

  test('has nothing in it while nothing was written', async () => {
    await using run = await createRun(dir, { config: CONFIG });
    expect(await run.readMetrics()).toEqual([]);
    expect(await run.readState('progress')).toBeUndefined();
    expect(await run.hasRollouts('eval-base')).toBe(false);
    expect(await run.listRollouts()).toEqual([]);
  });

  test('keeps only the accepted rows when metrics are truncated', async () => {
    await using run = await createRun(dir, { config: CONFIG });
    for (const step of [0, 1, 2, 3]) run.appendMetrics({ stage: 'rl', step });
    await run.truncateMetrics((row) => row.step < 2);
    run.appendMetrics({ stage: 'rl', step: 2 });
    expect((await run.readMetrics()).map((row) => row.step)).toEqual([0, 1, 2]);
  });

  test('refuses a metric that is not a number, by name', async () => {
    await using run = await createRun(dir, { config: CONFIG });
    expect(() => run.appendMetrics({ stage: 'rl', step: 0, 'optim/loss': NaN })).toThrow(/optim\/loss/);
    expect(await run.readMetrics()).toEqual([]);
  });

  test('refuses rollouts whose log-probabilities are not numbers, and keeps the old file', async () => {
    await using run = await createRun(dir, { config: CONFIG });
    await run.writeRollouts('step-000001', [trajectory(1)]);
    await expect(run.writeRollouts('step-000001', [trajectory(2, NaN)])).rejects.toThrow(/turns\.0\.logprobs\.0/);
    expect(await run.readRollouts('step-000001')).toEqual([trajectory(1)]);
  });

  test.each(['../secrets', 'a/b', '', '.hidden', 'x'.repeat(200)])(
    'refuses the name %j, which could leave its folder',
    async (name) => {
      await using run = await createRun(dir, { config: CONFIG });
      await expect(async () => run.writeState(name, 1)).rejects.toMatchObject({ code: 'bad-name' });
      await expect(async () => run.readRollouts(name)).rejects.toMatchObject({ code: 'bad-name' });
    },
  );
});

describe('creating', () => {
  test('refuses a folder that holds a run and names --resume and --out', async () => {
    await (await createRun(dir, { config: CONFIG }))[Symbol.asyncDispose]();
    await expect(createRun(dir, { config: CONFIG })).rejects.toMatchObject({ boundary: 'store', code: 'run-exists' });
    await expect(createRun(dir, { config: CONFIG })).rejects.toThrow(/--resume.*--out/);
  });

  test('replaces a run when asked, and leaves files alone that are not its own', async () => {
    const first = await createRun(dir, { config: CONFIG });
    first.appendMetrics({ stage: 'sft', step: 0 });
    await first.writeRollouts('eval-base', [trajectory(1)]);
    await first[Symbol.asyncDispose]();
    await writeFile(join(dir, 'notes.txt'), 'mine');
    await using second = await createRun(dir, { config: { seed: 8 }, overwrite: true });
    expect(await second.readMetrics()).toEqual([]);
    expect(await second.listRollouts()).toEqual([]);
    expect(await readFile(join(dir, 'notes.txt'), 'utf8')).toBe('mine');
  });

  test('never overwrites a folder that holds no run', async () => {
    await mkdir(dir);
    await writeFile(join(dir, 'thesis.tex'), 'years of work');
    await expect(createRun(dir, { config: CONFIG, overwrite: true })).rejects.toMatchObject({
      code: 'folder-not-empty',
    });
    expect(await readdir(dir)).toEqual(['thesis.tex']);
  });

  test('says that a file is in the way', async () => {
    await writeFile(dir, '');
    await expect(createRun(dir, { config: CONFIG })).rejects.toMatchObject({ boundary: 'store', code: 'not-a-folder' });
  });
});

describe('resuming', () => {
  test('goes on after a crash in the middle of an append', async () => {
    const first = await createRun(dir, { config: CONFIG });
    first.appendMetrics({ stage: 'rl', step: 0 });
    await first[Symbol.asyncDispose]();
    await appendFile(join(dir, 'metrics.jsonl'), '{"stage":"rl","st');
    expect((await (await readRun(dir)).readMetrics()).length).toBe(1);
    await using again = await resumeRun(dir, { config: CONFIG });
    again.appendMetrics({ stage: 'rl', step: 1 });
    expect((await again.readMetrics()).map((row) => row.step)).toEqual([0, 1]);
  });

  test('says which setting differs, with both values', async () => {
    await (await createRun(dir, { config: CONFIG }))[Symbol.asyncDispose]();
    const other = { ...CONFIG, seed: 8, sizes: { episodes: 100 } };
    await expect(resumeRun(dir, { config: other })).rejects.toThrow(
      /seed was 7 and is now 8; sizes\.episodes was 200 and is now 100/,
    );
    await using run = await resumeRun(dir, { config: other, mayDiffer: ['seed', 'sizes'] });
    expect(run.config).toEqual(CONFIG);
  });

  test('notes what has moved for whoever opens it later, and nothing else', async () => {
    await (await createRun(dir, { config: { ...CONFIG, baseUrl: 'http://a' } }))[Symbol.asyncDispose]();
    const options = { mayDiffer: ['baseUrl', 'seed'], renewed: ['baseUrl'] };
    const moved = await resumeRun(dir, { config: { ...CONFIG, seed: 8, baseUrl: 'http://b' }, ...options });
    expect(moved.config['baseUrl']).toBe('http://a');
    await moved[Symbol.asyncDispose]();
    expect((await readRun(dir)).config).toEqual({ ...CONFIG, baseUrl: 'http://b' });
  });

  test('refuses a folder without a run', async () => {
    await mkdir(dir);
    await expect(resumeRun(dir, { config: CONFIG })).rejects.toMatchObject({ code: 'not-a-run-folder' });
  });

  test('refuses a run of a newer version', async () => {
    await mkdir(dir);
    await writeFile(join(dir, 'config.json'), '{"format":"tabwright-run","version":99,"config":{}}');
    await expect(resumeRun(dir, { config: {} })).rejects.toMatchObject({
      code: 'newer-version',
      details: { found: 99, supported: 1 },
    });
  });
});

describe('damage', () => {
  test('in the middle of an append-only file is refused with file and line', async () => {
    await using run = await createRun(dir, { config: CONFIG });
    run.appendMetrics({ stage: 'rl', step: 0 });
    await appendFile(join(dir, 'metrics.jsonl'), 'garbage\n');
    run.appendMetrics({ stage: 'rl', step: 1 });
    await expect(run.readMetrics()).rejects.toThrow(/metrics\.jsonl:2 is damaged/);
  });

  test.each([
    ['cut in the middle of a line', (text: string) => text.slice(0, -20), /:3 is damaged: the file ends in the middle/],
    [
      'cut at the end of a line',
      (text: string) => `${text.split('\n').slice(0, 2).join('\n')}\n`,
      /:2 is damaged: the header promises 2 .* and 1 /,
    ],
    ['with a changed value', (text: string) => text.replace('"seed":2', '"seed":"two"'), /:3 is damaged: task\.seed/],
    ['empty', () => '', /:1 is damaged/],
  ])('to a rollouts file %s is refused with file and line', async (_name, damage, message) => {
    await using run = await createRun(dir, { config: CONFIG });
    await run.writeRollouts('eval-base', [trajectory(1), trajectory(2)]);
    const path = join(dir, 'rollouts', 'eval-base.jsonl');
    await writeFile(path, damage(await readFile(path, 'utf8')));
    await expect(run.readRollouts('eval-base')).rejects.toThrow(message);
    await expect(run.readRollouts('eval-base')).rejects.toMatchObject({ boundary: 'store', code: 'corrupted-file' });
  });
});

describe('the lock', () => {
  test('keeps a second writer out until the first is done', async () => {
    const first = await createRun(dir, { config: CONFIG });
    await expect(resumeRun(dir, { config: CONFIG })).rejects.toMatchObject({ code: 'run-in-use' });
    await expect(createRun(dir, { config: CONFIG, overwrite: true })).rejects.toMatchObject({ code: 'run-in-use' });
    await first[Symbol.asyncDispose]();
    await using second = await resumeRun(dir, { config: CONFIG });
    expect(second.dir).toBe(dir);
  });

  test('of a process that was killed is taken over', async () => {
    const child = await promisify(execFile)(process.execPath, ['-e', 'console.log(process.pid)']);
    await (await createRun(dir, { config: CONFIG }))[Symbol.asyncDispose]();
    await writeFile(
      join(dir, 'run.lock'),
      JSON.stringify({ pid: Number(child.stdout), host: hostname(), token: 'dead' }),
    );
    await using run = await resumeRun(dir, { config: CONFIG });
    expect(JSON.parse(await readFile(join(dir, 'run.lock'), 'utf8'))).toMatchObject({ pid: process.pid });
    expect(run.dir).toBe(dir);
  });

  test('of a process on another machine is respected', async () => {
    await (await createRun(dir, { config: CONFIG }))[Symbol.asyncDispose]();
    await writeFile(join(dir, 'run.lock'), JSON.stringify({ pid: 1, host: 'elsewhere.example', token: 'x' }));
    await expect(resumeRun(dir, { config: CONFIG })).rejects.toThrow(/process 1 on elsewhere\.example/);
  });

  test('leaves nothing behind', async () => {
    await (await createRun(dir, { config: CONFIG }))[Symbol.asyncDispose]();
    expect((await readdir(dir)).filter((name) => name.includes('lock'))).toEqual([]);
  });
});
