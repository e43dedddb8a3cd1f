// Every command of the Tinker guide as it stands there: a server, and the stages through it, in a folder of their own.
// The same stages in this process give the same episodes.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reportSchema } from '../../src/experiments/index.ts';
import { readRun } from '../../src/store/index.ts';
import { runCli } from '../cli/run-cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GUIDE = join(ROOT, 'docs/guide/tinker.md');
const PREFIX = 'npm run tabwright -- ';
const KEY = 'tml-secret-of-the-test';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-tinker-guide-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function serve(args: readonly string[]): Promise<{ readonly url: string } & AsyncDisposable> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args, '--json'], {
    cwd: ROOT,
    env: { ...process.env, CI: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /http:\/\/[\d.]+:\d+/.exec(line);
      if (found) resolve(found[0]);
    });
    void exited.then(() => reject(new Error('the server ended')));
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function run(args: readonly string[]): Promise<void> {
  const { code, stderr } = await runCli(args, { timeoutS: 400, env: { TINKER_API_KEY: KEY } });
  expect(code, `${args.join(' ')}\n${stderr}`).toBe(0);
  expect(stderr).not.toContain(KEY);
}

it(
  'the stages run through the server as in this process, and no file holds the key',
  { timeout: 900_000 },
  async () => {
    const guide = await readFile(GUIDE, 'utf8');
    const commands = guide
      .split('\n')
      .filter((line) => line.startsWith(PREFIX))
      .map((line) =>
        line
          .slice(PREFIX.length)
          .split(' ')
          .map((word) => word.replace(/^runs\//, `${folder}/`)),
      );
    const [serving, ...stages] = commands;
    expect(stages.map(([name]) => name)).toEqual(['collect', 'sft', 'train', 'eval']);
    const port = serving.indexOf('--port') + 1;
    await using server = await serve(serving.with(port, '0'));
    for (const stage of stages) {
      await run(stage.map((word) => (word.startsWith('http') ? server.url : word)));
    }

    const local = (args: readonly string[]): readonly string[] => {
      const base = args.indexOf('--base-url');
      const kept = args.filter((_, i) => i !== base && i !== base + 1);
      return kept.map((word) => (word === 'tinker:nano' ? 'nano' : word.replace('/tinker-', '/local-')));
    };
    await run(local(stages[0]));
    const [there, here] = [await readRun(join(folder, 'tinker-collect')), await readRun(join(folder, 'local-collect'))];
    const played = async (one: typeof there) =>
      (await one.readRollouts('collect')).map(({ outcome, turns }) => [
        outcome,
        turns.map((turn) => turn.actionTokens),
      ]);
    expect(await played(there)).toEqual(await played(here));

    const trained = await readRun(join(folder, 'tinker-trained'));
    expect(trained.config['baseUrl']).toBe(server.url);
    expect((await trained.readCheckpoints()).at(-1)).toMatchObject({
      batch: 2,
      final: true,
      state_path: expect.stringMatching(/^tinker:\/\/.*\/weights\/train-000002$/) as string,
      sampler_path: expect.stringMatching(/^tinker:\/\/.*\/sampler_weights\/train-000002$/) as string,
    });
    expect((await trained.readMetrics()).map((row) => row['optim/lr'])).toEqual([4e-5, expect.any(Number)]);
    // Names that tinker-cookbook's tools read, in files that they read.
    const lines = (await readFile(join(folder, 'tinker-trained', 'metrics.jsonl'), 'utf8')).trim().split('\n');
    for (const name of ['step', 'env/all/reward/total', 'optim/lr', 'progress/batch'])
      expect(Object.keys(JSON.parse(lines.at(-1)!) as object)).toContain(name);
    expect(await readFile(join(folder, 'tinker-trained', 'checkpoints.jsonl'), 'utf8')).toContain(
      '"state_path":"tinker://',
    );
    const report = reportSchema.parse(JSON.parse(await readFile(join(folder, 'tinker-eval', 'report.json'), 'utf8')));
    expect(report.stages[0]).toMatchObject({ episodes: 4, invalid: 0 });

    // The server has another address now: gone on with there, the run notes it, and is opened there without being told.
    const moved = server.url.replace('127.0.0.1', 'localhost');
    await run([...stages[2].map((word) => (word.startsWith('http') ? moved : word)), '--resume']);
    expect((await readRun(join(folder, 'tinker-trained'))).config['baseUrl']).toBe(moved);

    for (const name of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue;
      const bytes = await readFile(join(name.parentPath, name.name));
      expect(bytes.includes(KEY), name.name).toBe(false);
    }
  },
);

it(
  'a supervised rate rule is refused for RL, and so is a base URL that nothing would use',
  { timeout: 60_000 },
  async () => {
    const auto = await runCli(['train', '--learning-rate', 'auto']);
    expect(auto).toMatchObject({ code: 2 });
    expect(auto.stderr).toContain('"auto" is a rule for supervised fine-tuning');
    const useless = await runCli(['collect', '--base-url', 'http://127.0.0.1:1']);
    expect(useless).toMatchObject({ code: 2 });
    expect(useless.stderr).toContain('--base-url is for models on a Tinker server');
  },
);
