// A model in Hugging Face's layout plays click-checkboxes in a real Chromium: in this process and through `serve`, where
// the tokenizer is found by what the server says; the same seeds give the same tokens. It is trained for a step, too.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Trajectory } from '../../src/core/index.ts';
import { reportSchema } from '../../src/experiments/index.ts';
import { createRun, readRun } from '../../src/store/index.ts';
import { hasSmolLm2, SMOLLM2_GGUF } from '../../conformance/models/places.ts';
import { runCli } from './run-cli.ts';
import { writeTinyPretrained } from './tiny-pretrained.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SMALL = ['--pages', '2', '--max-action-tokens', '16', '--context-length', '6000'];

let folder: string;
let model: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-pretrained-'));
  model = await writeTinyPretrained(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(args: readonly string[]): Promise<string> {
  const { code, stderr, stdout } = await runCli(args, { timeoutS: 400 });
  expect(code, `${args.join(' ')}\n${stderr}`).toBe(0);
  return stdout;
}

async function serve(args: readonly string[]): Promise<{ readonly url: string } & AsyncDisposable> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'serve', ...args, '--json'], {
    cwd: ROOT,
    env: { ...process.env, CI: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as { kind: string; url: string };
      if (event.kind === 'result') resolve(event.url);
    });
    void exited.then(() => reject(new Error('the server ended')));
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return { url, [Symbol.asyncDispose]: stop };
}

async function played(name: string): Promise<unknown> {
  const episodes = await (await readRun(join(folder, name))).readRollouts('eval');
  return episodes.map(({ outcome, turns }) => [
    outcome,
    turns.map(({ promptTokens, actionTokens }) => [promptTokens, actionTokens]),
  ]);
}

it('plays the same episodes in this process and through serve', { timeout: 900_000 }, async () => {
  const episodes = ['--episodes', '2', ...SMALL];
  await run(['eval', '--model', `hf:${model}`, ...episodes, '--out', join(folder, 'here')]);
  const report = reportSchema.parse(JSON.parse(await readFile(join(folder, 'here', 'report.json'), 'utf8')));
  expect(report.stages[0]).toMatchObject({ episodes: 2, invalid: 0 });

  const checkpoints = join(folder, 'checkpoints');
  await using server = await serve([
    '--model',
    `hf:${model}`,
    '--model-name',
    'Qwen/Qwen3-0.6B',
    '--port',
    '0',
    '--checkpoints',
    checkpoints,
  ]);
  const there = ['--model', 'tinker:Qwen/Qwen3-0.6B', '--base-url', server.url];
  await run(['eval', ...there, ...episodes, '--out', join(folder, 'there')]);
  expect(await played('there')).toEqual(await played('here'));

  // Through the server a step is carried out too, and its checkpoint played with.
  const step = ['--steps', '1', '--groups', '1', '--group-size', '2', ...SMALL];
  await run(['train', ...there, '--lora-rank', '2', ...step, '--out', join(folder, 'trained')]);
  const last = (await (await readRun(join(folder, 'trained'))).readCheckpoints()).at(-1)!;
  expect(last.sampler_path).toMatch(/^tinker:\/\/.*\/sampler_weights\/train-000001$/);
  const again = ['eval', '--model', last.sampler_path!, '--base-url', server.url, '--episodes', '1', ...SMALL];
  await run([...again, '--out', join(folder, 'again')]);
});

it.skipIf(!hasSmolLm2)(
  'a GGUF file of a published model plays, with tools by prompt',
  { timeout: 600_000 },
  async () => {
    const out = join(folder, 'gguf');
    const short = ['--episodes', '1', '--pages', '1', '--max-action-tokens', '24', '--context-length', '2048'];
    await run(['eval', '--model', `gguf:${SMOLLM2_GGUF}`, ...short, '--out', out]);
    const [{ turns, outcome }] = await (await readRun(out)).readRollouts('eval');
    expect(outcome.kind).toBe('finished');
    expect(turns.length).toBeGreaterThan(0);
    expect(turns[0].promptTokens.length + 24).toBeLessThanOrEqual(2048);
  },
);

it('trains adapters of nano in this process, and eval takes the run', { timeout: 600_000 }, async () => {
  const small = ['--pages', '2', '--groups', '4', '--group-size', '8', '--beta', '0'];
  const out = join(folder, 'adapters');
  await run([
    'train',
    '--model',
    'nano',
    '--lora-rank',
    '4',
    '--learning-rate',
    '1e-3',
    '--steps',
    '1',
    ...small,
    '--out',
    out,
  ]);
  const [row] = await (await readRun(out)).readMetrics();
  expect(row['optim/updates']).toBe(1);
  await run(['eval', '--model', out, '--episodes', '2', '--pages', '2', '--out', join(folder, 'adapters-eval')]);
  const { stages } = reportSchema.parse(
    JSON.parse(await readFile(join(folder, 'adapters-eval', 'report.json'), 'utf8')),
  );
  expect(stages[0]).toMatchObject({ episodes: 2, invalid: 0 });
});

it('a model that nobody knows how to speak with is refused with the list', { timeout: 60_000 }, async () => {
  const other = await writeTinyPretrained(folder, 'unheard-of');
  const { code, stderr } = await runCli(['eval', '--model', `hf:${other}`, '--episodes', '1']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/No chat format is known for .*unheard-of.*Qwen\/Qwen3-8B/);
});

/** One episode worth imitating, of tokens that every vocabulary here has. */
const SOLVED: Trajectory = {
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
  outcome: { kind: 'finished', success: true, reward: 1, stop: 'submitted', details: {} },
  seconds: 1,
};

it(
  'learns with a rate by rule: adapters of models that the rule knows, and no others',
  { timeout: 240_000 },
  async () => {
    const data = join(folder, 'collection');
    {
      await using collection = await createRun(data, { config: { filter: 'exact' } });
      await collection.writeRollouts('collect', [SOLVED]);
    }
    const out = join(folder, 'auto');
    const auto = ['sft', '--data', data, '--learning-rate', 'auto', '--epochs', '1'];
    await run([...auto, '--model', `hf:${model}`, '--lora-rank', '2', '--out', out]);
    const { config } = await readRun(out);
    expect(config['learningRate']).toBeCloseTo(5e-4 * (2000 / 16) ** 0.0775, 12);
    const refused = await runCli([...auto, '--model', 'nano', '--lora-rank', '2', '--out', join(folder, 'never')]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/--learning-rate auto has no rate for nano: its width is not known. Give a number./);
    const odd = await runCli(['sft', '--data', data, '--learning-rate', 'fast']);
    expect(odd.stderr).toMatch(/--learning-rate fast: is a positive number, or auto/);
  },
);
