// The recipe of examples/: its plan without a network for models wherever they are, and the recipe itself against a server
// of this machine.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reportSchema } from '../../src/experiments/index.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Where nothing answers: a plan that asks anyone would fail. */
const NO_NETWORK = { TINKER_BASE_URL: 'http://127.0.0.1:9', HF_ENDPOINT: 'http://127.0.0.1:9', TINKER_API_KEY: '' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-recipe-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function recipe(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/click-checkboxes.ts', ...args], {
    cwd: ROOT,
    env: { ...process.env, CI: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 800_000,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

const dry = (...args: readonly string[]) => recipe(['--dry-run', ...args], NO_NETWORK);

it('plans a run of a large model on Tinker: renderer, tokens and cost', { timeout: 120_000 }, async () => {
  const { code, stdout, stderr } = await dry('--model', 'tinker:Qwen/Qwen3.6-35B-A3B', '--prices', '1,0,0');
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^family {5}qwen3\.6, 35\.00 B parameters, 3\.00 B active/m);
  expect(stdout).toMatch(/^renderer {3}qwen3\.6, safe$/m);
  expect(stdout).toMatch(/^trained {4}adapters of rank 16 on Tinker/m);
  // Only what is read has a price here: 3,960 episodes, each of which reads its five prompts.
  const [, read] = /In all ([\d.]+) M/.exec(stdout)!;
  expect(Number(read)).toBeCloseTo((3960 * (5 * 900 + 10 * (150 + 60 + 400))) / 1e6, 1);
  expect(stdout).toContain(`Cost: about $${read}`);
  expect(stdout.match(/^ {2}tabwright (\w+)/gm)).toEqual(
    ['eval', 'collect', 'sft', 'eval', 'train', 'eval'].map((name) => `  tabwright ${name}`),
  );
});

it('plans a run on this machine, of a repository or of a file', { timeout: 120_000 }, async () => {
  for (const model of ['hf:HuggingFaceTB/SmolLM2-135M-Instruct', 'gguf:some/SmolLM2-135M-Instruct.Q4_1.gguf']) {
    const { code, stdout, stderr } = await dry('--model', model);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^renderer {3}smollm2\+tool-prompt, safe$/m);
    expect(stdout).toContain('Cost: none but time');
  }
  const unknown = await dry('--model', 'hf:some/model');
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toMatch(/No chat format is known for the model some\/model\. Known models: .*Qwen\/Qwen3-8B/);
});

it('runs from the base to the last measurement on a server', { timeout: 900_000 }, async () => {
  const server = spawn(
    process.execPath,
    ['--import', 'tsx', 'src/cli/main.ts', 'serve', '--port', '0', '--checkpoints', join(folder, 'served'), '--json'],
    { cwd: ROOT, env: { ...process.env, CI: '1' }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(server, 'exit');
  try {
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: server.stdout }).on('line', (line) => {
        const event = JSON.parse(line) as { kind: string; url: string };
        if (event.kind === 'result') resolve(event.url);
      });
      void exited.then(() => reject(new Error('the server ended')));
    });
    const out = join(folder, 'recipe');
    const small = [
      '--eval-episodes',
      '2',
      '--collect-episodes',
      '16',
      '--filter',
      'lenient',
      '--epochs',
      '1',
      '--pages',
      '2',
    ];
    const training = ['--steps', '1', '--groups', '1', '--group-size', '4', '--lora-rank', '4'];
    const result = await recipe(['--model', 'tinker:nano', '--base-url', url, '--out', out, ...small, ...training]);
    expect(result.code, result.stderr).toBe(0);
    for (const name of ['base', 'sft-eval', 'grpo-eval']) {
      const report = reportSchema.parse(JSON.parse(await readFile(join(out, name, 'report.json'), 'utf8')));
      expect(report.stages[0]).toMatchObject({ episodes: 2, invalid: 0 });
    }
  } finally {
    server.kill('SIGTERM');
    await exited;
  }
});
