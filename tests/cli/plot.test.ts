// `tabwright plot` on runs that were really trained, in an environment without a browser; the PNG is a real Chromium's.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRun } from '../../src/store/index.ts';
import { createFakeTrainer, createToyCheckboxes, createToyRenderer, toyModel } from '../../src/testing/index.ts';
import { createTaskListSampler, rl, rlConfigSchema } from '../../src/train/index.ts';
import { runCli } from './run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-plot-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function trained(name: string, shuffleRewards: boolean): Promise<string> {
  const env = createToyCheckboxes();
  await using run = await createRun(join(folder, name), { config: { reward: 'code' } });
  await rl({
    runSeed: 1,
    stage: 'train',
    run,
    signal: new AbortController().signal,
    env,
    trainer: createFakeTrainer(toyModel()),
    renderer: createToyRenderer(),
    sampleTasks: createTaskListSampler({ tasks: Array.from({ length: 24 }, (_, i) => env.task(i)), runSeed: 1 }),
    config: rlConfigSchema.parse({ steps: 30, groups: 6, groupSize: 6, learningRate: 0.08, shuffleRewards }),
    evaluation: { every: 10, tasks: Array.from({ length: 30 }, (_, i) => env.task(1000 + i)) },
    labels: { reward_source: 'code' },
  });
  return run.dir;
}

it('draws two runs with their intervals, as SVG and PNG', { timeout: 240_000 }, async () => {
  const dirs = [await trained('honest', false), await trained('shuffled', true)];
  const to = join(folder, 'curve');
  const { code, stdout, stderr } = await runCli(['plot', ...dirs, '--metric', 'success', '--to', to], {
    timeoutS: 200,
  });
  expect(code, stderr).toBe(0);
  expect(stdout).toBe(`success of 2 runs: ${to}.svg, ${to}.png\n`);
  const svg = await readFile(`${to}.svg`, 'utf8');
  expect(svg).toMatch(/>honest<tspan class="note"> {2}graded by code/);
  expect(svg).toContain('>shuffled<');
  // Before the first update, after 10, 20 and 30: four points a run, each with its whisker; a line and a band a run.
  expect(svg.match(/<circle/g)).toHaveLength(8);
  expect(svg.match(/class="whisker"/g)).toHaveLength(8);
  expect(svg.match(/class="band"/g)).toHaveLength(2);
  const png = await readFile(`${to}.png`);
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([960, 540]);
  // A page of one colour is a few kilobytes.
  expect(png.length).toBeGreaterThan(15_000);
});

it('says of a folder that holds no training what it wants', { timeout: 120_000 }, async () => {
  const dir = join(folder, 'other');
  await using _ = await createRun(dir, { config: {} });
  const { code, stderr } = await runCli(['plot', dir, '--png', 'no']);
  expect(code).toBe(2);
  expect(stderr).toContain(`${dir} is no run of \`tabwright train\``);
});
