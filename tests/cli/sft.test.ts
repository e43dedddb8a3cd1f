// `tabwright sft` on a collection that is made here: which episodes it learns from, and going on under another commit.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Trajectory } from '../../src/core/index.ts';
import { createRun, readRun } from '../../src/store/index.ts';
import { runCli } from './run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-sft-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** One episode that ended one box short: worth imitating to the lenient filter alone. */
const ONE_SHORT: Trajectory = {
  task: { id: 'click-checkboxes/7', env: 'click-checkboxes', instruction: '', seed: 7 },
  member: 0,
  turns: [
    {
      promptTokens: [1, 2, 3],
      actionTokens: [4, 5],
      logprobs: [-1, -1],
      samplerVersion: 0,
      stop: 'stop',
      action: { kind: 'call', tool: 'click', args: { target: 1 } },
      page: 'checkbox "a" [1]',
      nextPage: 'checkbox "a" [checked] [1]',
      changed: true,
      info: {},
    },
  ],
  outcome: { kind: 'finished', success: false, reward: 0.5, stop: 'submitted', details: {} },
  seconds: 1,
};

async function collection(name: string, config: { filter?: string }): Promise<string> {
  await using run = await createRun(join(folder, name), { config });
  await run.writeRollouts('collect', [ONE_SHORT]);
  return run.dir;
}

it('learns from the episodes that the collection kept, unless it is told otherwise', { timeout: 120_000 }, async () => {
  const data = await collection('lenient', { filter: 'lenient' });
  const out = join(folder, 'sft');
  const result = await runCli(['sft', '--data', data, '--out', out]);
  expect(result.code, result.stderr).toBe(0);
  expect(result.stdout).toMatch(/^1 rows learned/);
  const { config } = await readRun(out);
  expect(config).toMatchObject({ command: 'sft', filter: 'lenient', versions: { node: process.version } });

  const strict = await runCli(['sft', '--data', data, '--filter', 'exact', '--out', join(folder, 'strict')]);
  expect(strict.code).toBe(2);
  expect(strict.stderr).toMatch(/no episode passed the filter/);

  // Gone on with by another program: said, and not refused.
  const path = join(out, 'config.json');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace(/"commit": .*,/, '"commit": "0123456789ab",'));
  const resumed = await runCli(['sft', '--data', data, '--out', out, '--resume']);
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(resumed.stderr).toMatch(/begun by another program: commit was "0123456789ab" and is now /);
});

it('refuses a folder that no episodes were collected in', async () => {
  const data = await collection('other', {});
  const result = await runCli(['sft', '--data', data, '--out', join(folder, 'never')]);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(`--data ${data} is no run of`);
});
