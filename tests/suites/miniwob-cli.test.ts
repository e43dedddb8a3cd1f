// `tabwright suite`, and every command of docs/guide/miniwob.md, as a person runs them.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { describeMiniwob } from '../../src/envs/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { miniwobWheel } from './miniwob-pages.ts';

const data = mkdtempSync(join(tmpdir(), 'miniwob-cli-'));
afterAll(() => rmSync(data, { recursive: true, force: true }));
const wheel = await miniwobWheel();
const missing = typeof wheel === 'string' ? undefined : wheel.missing;

test('the list names each suite with its halves and what is reached without a model', async () => {
  const { code, stdout } = await runCli(['suite', 'list', '--json']);
  expect(code).toBe(0);
  const { suites } = JSON.parse(stdout) as { suites: readonly object[] };
  expect(suites).toContainEqual(describeMiniwob());
  expect(suites).toContainEqual(
    expect.objectContaining({ name: 'miniwob', version: '1.1.0', tasks: 125, train: 62, test: 63 }),
  );
}, 120_000);

test('pages that are not there are asked for, with how to get them', async () => {
  const { code, stderr } = await runCli(['suite', 'add', 'miniwob', '--from', join(data, 'none')]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: There is nothing at .*none: no wheel and no folder/);
}, 120_000);

test.skipIf(missing !== undefined)(
  `the guide’s commands work (${missing ?? 'wheel fetched'})`,
  async () => {
    const guide = readFileSync('docs/guide/miniwob.md', 'utf8');
    const commands = /```\n(pip [^]*?)```/.exec(guide)![1].trim().split('\n');
    expect(commands[0]).toBe('pip download --no-deps miniwob==1.1.0'); // done by miniwobWheel
    const env = { XDG_DATA_HOME: data, MINIWOB_DIR: '' };
    for (const command of commands.slice(1)) {
      const args = command.replace('npm run tabwright -- ', '').split(' ');
      const result = await runCli(
        args.map((arg) => (arg.endsWith('.whl') ? (wheel as string) : arg)),
        { env },
      );
      expect(result.code, `${command}\n${result.stderr}`).toBe(0);
    }
    const { stdout } = await runCli(['suite', 'add', 'miniwob'], { env });
    expect(stdout).toContain(`360 files from ${join(data, 'tabwright', 'suites', 'miniwob-1.1.0')}`);
  },
  240_000,
);

test.skipIf(missing !== undefined)(
  'the guide’s program plays an action',
  async () => {
    const guide = readFileSync('docs/guide/miniwob.md', 'utf8');
    const program = /```ts\n([^]*?)```/.exec(guide)![1];
    const file = join(data, 'program.mts');
    const envs = pathToFileURL('src/envs/index.ts').href;
    writeFileSync(file, `${program.replace('tabwright/envs', envs)}\nconsole.log(outcome?.kind, observation.page);\n`);
    const env = { ...process.env, MINIWOB_DIR: wheel as string };
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', file], {
      env,
      timeout: 100_000,
    });
    expect(stdout).toMatch(/^Select .* and click Submit\.\ncheckbox "\w+" \[1\]/);
    expect(stdout).toMatch(/\nundefined checkbox "\w+" \[checked\] \[1\]/);
  },
  120_000,
);
