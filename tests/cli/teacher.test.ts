// Demonstrations: an oracle plays in a real Chromium, and what it did is in the tokens of a model that could not have done
// it; fine-tuning learns from them, an episode a row.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demonstrationData, demonstrations } from '../../src/algorithms/index.ts';
import { readRun } from '../../src/store/index.ts';
import { runCli } from './run-cli.ts';
import { writeTinyPretrained } from './tiny-pretrained.ts';

let folder: string;
let model: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-teacher-'));
  model = await writeTinyPretrained(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const collect = (out: string, ...args: readonly string[]) =>
  runCli(['collect', '--teacher', 'oracle', '--episodes', '6', '--pages', '2', '--out', join(folder, out), ...args], {
    timeoutS: 200,
  });

it('an oracle shows a pretrained model how, in its tokens', { timeout: 600_000 }, async () => {
  const { code, stderr } = await collect('shown', '--model', `hf:${model}`);
  expect(code, stderr).toBe(0);
  const run = await readRun(join(folder, 'shown'));
  expect(run.config).toMatchObject({ teacher: 'oracle' });
  const episodes = await run.readRollouts('collect');
  expect(episodes.map(({ outcome }) => outcome)).toEqual(
    Array.from({ length: 6 }, () => expect.objectContaining({ kind: 'finished', success: true }) as unknown),
  );
  const data = demonstrationData(demonstrations(episodes));
  expect(data).toHaveLength(episodes.length);
  const [{ turns }] = episodes;
  const learned = (datum: (typeof data)[number]) =>
    datum.lossInputs.targetTokens.filter((_, t) => datum.lossInputs.weights![t] > 0);
  expect(learned(data[0])).toEqual(turns.flatMap(({ actionTokens }) => actionTokens));

  const sft = ['sft', '--model', `hf:${model}`, '--data', join(folder, 'shown'), '--epochs', '1'];
  const learnt = await runCli([...sft, '--lora-rank', '4', '--out', join(folder, 'sft')], { timeoutS: 300 });
  expect(learnt.code, learnt.stderr).toBe(0);
});

it('a teacher that is not there is told with those that are', { timeout: 200_000 }, async () => {
  const { code, stderr } = await collect('none', '--model', 'nano', '--teacher', 'wizard');
  expect(code).toBe(2);
  expect(stderr).toMatch(/no policy "wizard"; it has oracle, noop, blind/);
  // The command that is put right finds no run there.
  expect(await readdir(folder)).not.toContain('none');
});
