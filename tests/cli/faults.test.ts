// What a person sees when something is wrong: one line that says what, with which value, and what to do; no stack
// trace; a non-zero exit; nothing lost.

import { cp, mkdir, mkdtemp, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli, type CliResult } from './run-cli.ts';

const NANO = fileURLToPath(new URL('../../assets/nano', import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-cli-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function expectOneLine({ stderr }: CliResult, pattern: RegExp): void {
  const lines = stderr
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('error'));
  expect(lines, stderr).toHaveLength(1);
  expect(lines[0]).toMatch(pattern);
  expect(stderr).not.toMatch(/^\s+at /m);
}

async function expectOutRefused(out: string, advice: RegExp): Promise<void> {
  const result = await runCli(['eval', '--out', out], { timeoutS: 20 });
  expect(result.code).toBe(1);
  expectOneLine(result, advice);
  expect(result.stderr).toContain(out);
}

describe('the command line refuses, in one line,', () => {
  const cases: [string, string[], RegExp][] = [
    ['an unknown flag', ['eval', '--nope'], /unknown option '--nope'/],
    ['an unknown command', ['evaluate-me'], /unknown command 'evaluate-me'/],
    ['a value of the wrong kind', ['eval', '--episodes', 'many'], /--episodes many: .*number/],
    ['a value out of range', ['quickstart', '--grpo.group-size', '1'], /--grpo\.group-size 1: /],
    ['a value that is no choice', ['eval', '--env', 'chess'], /--env chess: /],
    ['a model that is not there', ['eval', '--model', 'no-such-folder'], /no model "no-such-folder"/],
    ['sft without data', ['sft'], /--data is missing/],
    ['--resume without --out', ['train', '--resume'], /--resume needs --out/],
    ['an empty --out', ['eval', '--out', ''], /--out is empty/],
  ];
  for (const [what, args, pattern] of cases) {
    it(what, async () => {
      const result = await runCli(args);
      expect(result.code).toBe(2);
      expectOneLine(result, pattern);
    });
  }

  it('a Chromium that is not where CHROME_PATH says', async () => {
    const result = await runCli(['eval', '--out', join(folder, 'run')], { env: { CHROME_PATH: '/nowhere/chrome' } });
    expect(result.code).toBe(1);
    expectOneLine(result, /\/nowhere\/chrome/);
  });

  it('a CHROME_PATH that is no browser', async () => {
    const result = await runCli(['eval', '--out', join(folder, 'run')], { env: { CHROME_PATH: '/bin/true' } });
    expect(result.code).toBe(1);
    expectOneLine(result, /\/bin\/true/);
  });

  it('a folder that holds other files, which stay as they were', async () => {
    await writeFile(join(folder, 'thesis.txt'), 'years of work');
    const result = await runCli(['eval', '--out', folder, '--overwrite']);
    expect(result.code).not.toBe(0);
    expectOneLine(result, /--out/);
    expect(await readdir(folder)).toContain('thesis.txt');
  });

  it('an --out under a file', async () => {
    await writeFile(join(folder, 'file'), '');
    const out = join(folder, 'file', 'run');
    await expectOutRefused(out, /A file,.* is in the way.*--out/);
  });

  it('an --out that is a link to nowhere', async () => {
    await symlink(join(folder, 'nowhere'), join(folder, 'link'));
    await expectOutRefused(join(folder, 'link'), /link that leads nowhere.*--out/);
  });

  it.skipIf(process.platform !== 'linux')('an --out in a read-only place', async () => {
    await expectOutRefused('/sys/tabwright', /may write to with --out/);
  });

  it.skipIf(process.platform !== 'linux')('an --out in a file system that takes no folders', async () => {
    await expectOutRefused('/proc/tabwright/run', /--out/);
  });

  it('a run folder of a newer version', async () => {
    await mkdir(join(folder, 'run'));
    await writeFile(
      join(folder, 'run', 'config.json'),
      JSON.stringify({ format: 'tabwright-run', version: 99, config: {} }),
    );
    const result = await runCli(['eval', '--out', join(folder, 'run'), '--resume']);
    expect(result.code).not.toBe(0);
    expectOneLine(result, /version/);
  });

  it('a truncated model, naming the tensor that is cut', async () => {
    const model = join(folder, 'model');
    await cp(NANO, model, { recursive: true });
    await truncate(join(model, 'model.safetensors'), 100_000);
    const result = await runCli(['eval', '--model', model, '--out', join(folder, 'run')]);
    expect(result.code).not.toBe(0);
    expectOneLine(result, /model\.safetensors: Tensor ".*" of shape \[.*\] ends at byte/);
  });
});

describe('the command line', () => {
  it('shows the stack and the cause with --debug', async () => {
    const { stderr } = await runCli(['eval', '--model', 'no-such-folder', '--debug']);
    expect(stderr).toMatch(/^\s+at /m);
    expect(stderr).toContain('"code":"unknown-model"');
  });

  it('explains each command with examples', { timeout: 120_000 }, async () => {
    for (const command of ['quickstart', 'eval', 'collect', 'sft', 'train', 'pretrain']) {
      const { code, stdout } = await runCli([command, '--help']);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`Examples:\\n\\s+\\$ npm run tabwright -- ${command}`));
    }
  });
});
