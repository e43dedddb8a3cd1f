// `tabwright pretrain` as a process, small: a model that `eval` can measure, the same weights for the same seed, and
// one line for what it cannot do.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportSchema } from '../../src/experiments/index.ts';
import { readRun } from '../../src/store/index.ts';
import { runCli } from './run-cli.ts';

const SMALL = ['pretrain', '--steps', '3', '--batch-tokens', '256', '--warmup-steps', '1'];
const TIMEOUT = 120_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-pretrain-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Pretrains into a new run folder, and gives the path of the model, which is the last thing it prints. */
async function pretrain(name: string, seed: number): Promise<string> {
  const out = join(folder, name);
  const { code, stdout, stderr } = await runCli([...SMALL, '--seed', String(seed), '--out', out]);
  expect(code, stderr).toBe(0);
  const model = join(out, 'checkpoints', 'model');
  expect(stdout).toBe(`Model: ${model}  (npm run tabwright -- eval --model ${model})\n`);
  return model;
}

const weightsOf = (model: string): Promise<Buffer> => readFile(join(model, 'model.safetensors'));

describe('pretraining', () => {
  let model: string;

  it(
    'writes a row of metrics a step and a model that eval measures, by the name of the run',
    { timeout: TIMEOUT },
    async () => {
      model = await pretrain('first', 1);
      const rows = await (await readRun(join(folder, 'first'))).readMetrics();
      expect(rows.map(({ step }) => step)).toEqual([0, 1, 2]);
      expect(rows[2]['accuracy/click']).toBeTypeOf('number');

      const out = join(folder, 'eval');
      const args = ['eval', '--model', join(folder, 'first'), '--episodes', '2', '--pages', '2', '--out', out];
      const { code, stderr } = await runCli(args);
      expect(code, stderr).toBe(0);
      const report = reportSchema.parse(JSON.parse(await readFile(join(out, 'report.json'), 'utf8')));
      expect(report.stages[0]).toMatchObject({ episodes: 2, invalid: 0 });
    },
  );

  it(
    'gives the same weights, byte for byte, for the same seed, and others for another',
    { timeout: TIMEOUT },
    async () => {
      const first = await weightsOf(model);
      expect((await weightsOf(await pretrain('again', 1))).equals(first)).toBe(true);
      expect((await weightsOf(await pretrain('other', 2))).equals(first)).toBe(false);
    },
  );

  it.each([
    ['--steps 0', /^error: --steps 0: /],
    ['--mix.is-checked -1', /^error: --mix\.is-checked -1: /],
    ['--mix.click 0 --mix.is-checked 0 --mix.which-of 0 --mix.select-then 0', /^error: --mix: /],
    ['--resume', /^error: unknown option '--resume'/],
  ])('refuses %s in one line', async (flags, pattern) => {
    const { code, stderr } = await runCli([...SMALL, ...flags.split(' '), '--out', join(folder, 'bad')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(pattern);
    expect(stderr.split('\n').filter((line) => line.startsWith('error'))).toHaveLength(1);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
