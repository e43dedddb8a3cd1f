// The guide to environments of one's own, command by command as it stands there, and how long its example is.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRun } from '../../src/store/index.ts';
import { runCli } from '../cli/run-cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PREFIX = 'npm run tabwright -- ';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-custom-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('the example has fewer than 60 lines and imports nothing but the package', async () => {
  const source = await readFile(join(ROOT, 'examples/custom-environment.ts'), 'utf8');
  expect(source.trimEnd().split('\n').length).toBeLessThan(60);
  const imported = [...source.matchAll(/from '([^']+)'/g)].map(([, name]) => name);
  expect(imported.length).toBeGreaterThan(0);
  for (const name of imported) expect(name).toMatch(/^tabwright\/[a-z]+$/);
});

it('its commands measure a script and a model, and train for a step', { timeout: 900_000 }, async () => {
  const guide = await readFile(join(ROOT, 'docs/guide/custom-environments.md'), 'utf8');
  const commands = guide.split('\n').filter((line) => line.startsWith(PREFIX));
  expect(commands).toHaveLength(3);
  for (const command of commands) {
    const args = command
      .slice(PREFIX.length)
      .split(' ')
      .map((word) => word.replace(/^runs\//, `${folder}/`));
    const { code, stderr } = await runCli(args, { timeoutS: 280 });
    expect(code, `${command}\n${stderr}`).toBe(0);
  }
  // The first button is wanted at every third seed.
  const scripted = await (await readRun(join(folder, 'buttons-scripted'))).readAnyRollouts('eval');
  expect(scripted.map(({ outcome }) => outcome.kind === 'finished' && outcome.success)).toEqual(
    scripted.map(({ task }) => task.seed % 3 === 0),
  );
  expect(scripted).toHaveLength(6);
  const [row] = await (await readRun(join(folder, 'buttons-trained'))).readMetrics();
  expect(row).toMatchObject({ reward_source: 'code', 'env/all/total_episodes': 48, 'optim/updates': 1 });
});

it('says what a module lacks', { timeout: 120_000 }, async () => {
  const file = join(folder, 'empty.mjs');
  await writeFile(file, 'export const nothing = 1;\n');
  const { code, stderr } = await runCli(['train', '--env', `custom:${file}`]);
  expect(code).toBe(2);
  expect(stderr).toContain(`${file}: createEnv is no function.`);
});
