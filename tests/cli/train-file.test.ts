// `tabwright train --eval-tasks <file>`: the shipped policy trains on puzzles in a real Chromium, and tasks of a file, an
// environment of its own on websites, are measured before the first step and after the last. It has not learned those:
// what is proven is the way, with each environment's own flags and deadlines.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRun } from '../../src/store/index.ts';
import { servePages, type PageServer } from '../repl/page-server.ts';
import { noJail, whyNot } from '../sandbox/jail.ts';
import { runCli } from './run-cli.ts';

let folder: string;
let site: PageServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-train-file-'));
  site = await servePages();
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const small = ['--steps', '1', '--groups', '2', '--group-size', '2', '--pages', '2', '--beta', '0'];
const train = (name: string, args: readonly string[]) =>
  runCli(['train', '--model', 'nano', ...small, '--out', join(folder, name), ...args], { timeoutS: 900 });

async function fileOf(name: string, urls: readonly string[]): Promise<string> {
  const path = join(folder, name);
  const rows = urls.map((url, id) => ({ id: `t${id}`, url, instruction: 'Which heading?', answer: 'Hello' }));
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}

describe.skipIf(noJail)(`tasks of a file, measured while puzzles are trained on${whyNot}`, () => {
  it('stand in the rows of their steps, and their episodes are kept', { timeout: 1_000_000 }, async () => {
    const file = await fileOf('tasks.jsonl', [`${site.origin}/plain`, `${site.origin}/plain?2`]);
    const { code, stderr } = await train('run', ['--eval-tasks', file, '--sessions', '1', '--max-turns', '2']);
    expect(code, stderr).toBe(0);
    const run = await readRun(join(folder, 'run'));
    const rows = await run.readMetrics();
    expect(rows.map((row) => [row.step, row['env/all/total_episodes'], row['test/env/all/total_episodes']])).toEqual([
      [0, 4, 2],
      [1, undefined, 2],
    ]);
    expect(rows.map((row) => row['test/failed'])).toEqual([undefined, undefined]);
    const episodes = await run.readRollouts('train-eval-000000');
    expect(episodes.map(({ task }) => task.id)).toEqual(['tasks/t0', 'tasks/t1']);
    expect(episodes.map(({ outcome }) => outcome.kind)).toEqual(['finished', 'finished']);
  });

  it('that are away cost the measurement, and not the training', { timeout: 1_000_000 }, async () => {
    const file = await fileOf('away.jsonl', ['http://127.0.0.1:9/gone']);
    const { code, stderr } = await train('away', ['--eval-tasks', file, '--sessions', '1', '--max-turns', '1']);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(
      /The measurement at step 0 failed, and training goes on without it: browser\/start-page-failed/,
    );
    const rows = await (await readRun(join(folder, 'away'))).readMetrics();
    expect(rows.map((row) => [row['test/failed'], row['test/failure']])).toEqual(
      Array(2).fill([1, expect.stringMatching(/^browser\/start-page-failed: none of 1 episodes came to an end/)]),
    );
    expect(rows[0]['env/all/total_episodes']).toBe(4);
  });

  it('that cannot be measured at all are told of before the first step', { timeout: 300_000 }, async () => {
    const file = join(folder, 'judged.jsonl');
    await writeFile(
      file,
      `${JSON.stringify({ id: 1, initial_url: `${site.origin}/plain`, task: 'List the fields.' })}\n`,
    );
    const { code, stderr } = await train('judged', ['--eval-tasks', file, '--sessions', '1']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/needs a judge: name its model with --judge-model/)]);
    await expect(readRun(join(folder, 'judged'))).rejects.toThrow();
  });
});
