// The section of docs/guide/suites.md on web_nav, forms, mail and shop: its commands and its program, as a person runs them.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { describeForms, describeMail, describeShop, describeWebNav } from '../../src/envs/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { noJail, probe, whyNot } from '../sandbox/jail.ts';

const folder = mkdtempSync(join(tmpdir(), 'web-nav-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const section = /## `web_nav`[^]*?(?=\n## |$)/.exec(readFileSync('docs/guide/suites.md', 'utf8'))![0];

test('the list has the four suites with their figures, and the guide their numbers', async () => {
  const { code, stdout } = await runCli(['suite', 'list', '--json']);
  expect(code).toBe(0);
  const { suites } = JSON.parse(stdout) as { suites: readonly object[] };
  const described = [describeWebNav(), describeForms(), describeMail(), describeShop()];
  expect(suites).toEqual(expect.arrayContaining(described));
  for (const { name, tasks, blind } of described) {
    expect(section).toMatch(new RegExp(`\\(\`${name}\`, ${tasks}\\b`));
    if (blind !== 0) expect(section).toContain(`${Math.round(blind! * 1_000) / 10} % of \`${name}\``);
  }
}, 120_000);

test('the command of the guide plays four tasks of one suite', { timeout: 600_000 }, async () => {
  const command = /npm run tabwright -- (eval [^\n]*)/.exec(section)![1];
  const output = join(folder, 'evaluation.json');
  const more = ['--out', join(folder, 'run'), '--output', output, ...(probe.available ? [] : ['--unsafe-local'])];
  const { code, stderr } = await runCli([...command.split(' '), ...more], { timeoutS: 540 });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(readFileSync(output, 'utf8'))).toMatchObject({ summary: { episodes: 4, valid: 4, successes: 4 } });
});

test.skipIf(noJail)(`the program of the guide plays a task${whyNot}`, { timeout: 300_000 }, async () => {
  const program = /```ts\n([^]*?)```/.exec(section)![1];
  const file = join(folder, 'program.mts');
  const sources = program.replace(
    /'tabwright\/(\w+)'/g,
    (_all, part: string) => `'${pathToFileURL(`src/${part}/index.ts`).href}'`,
  );
  writeFileSync(file, sources);
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', file], { timeout: 280_000 });
  expect(stdout).toMatch(/^Write a mail to .*kind: 'finished',\s+success: true,\s+reward: 1/s);
});
