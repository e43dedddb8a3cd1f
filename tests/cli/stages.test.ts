// Every command of the stage guide, as it stands there, in a folder of its own.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reportSchema } from '../../src/experiments/index.ts';
import { runCli } from './run-cli.ts';

const GUIDE = fileURLToPath(new URL('../../docs/guide/stages.md', import.meta.url));
const PREFIX = 'npm run tabwright -- ';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-stages-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('the stages of the guide run one after the other and end in a report', { timeout: 400_000 }, async () => {
  const guide = await readFile(GUIDE, 'utf8');
  const commands = guide.split('\n').filter((line) => line.startsWith(PREFIX));
  expect(commands).toHaveLength(7);
  for (const command of commands) {
    const args = command
      .slice(PREFIX.length)
      .split(' ')
      .map((word) => word.replace(/^runs\//, `${folder}/`));
    const { code, stderr } = await runCli(args);
    expect(code, `${command}\n${stderr}`).toBe(0);
  }
  const report = reportSchema.parse(JSON.parse(await readFile(join(folder, 'trained', 'report.json'), 'utf8')));
  expect(report.stages[0]).toMatchObject({ episodes: 20, invalid: 0 });
});
