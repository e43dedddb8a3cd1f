// Every command of the evaluation guide, as it stands there, in a folder of its own.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

const PREFIX = 'npm run tabwright -- ';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-evaluation-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('the guide’s commands run one after the other and end in a verdict', { timeout: 400_000 }, async () => {
  const guide = await readFile(new URL('../../docs/guide/evaluation.md', import.meta.url), 'utf8');
  const commands = guide.split('\n').filter((line) => line.startsWith(PREFIX));
  expect(commands).toHaveLength(5);
  let said = '';
  for (const [i, command] of commands.entries()) {
    const words = command.slice(PREFIX.length).split(' ');
    const args = words.map((word) => word.replace(/^runs\//, `${folder}/`));
    // Here and not in `runs`, where the guide lets them be made.
    const out = words[0] === 'eval' ? ['--out', join(folder, `run-${i}`)] : [];
    const { code, stdout, stderr } = await runCli([...args, ...out]);
    expect(code, `${command}\n${stderr}`).toBe(0);
    said = stdout;
  }
  expect(said).toMatch(/^B nano against A scripted:blind on click-checkboxes 1; success by code$/m);
  expect(said).toContain('noise floor: nano played again differs from itself by');
  expect(said.trim().split('\n').at(-1)).toMatch(
    /^(B is (better|worse): the difference stands|The difference does not stand: .*)\.$/,
  );
});
