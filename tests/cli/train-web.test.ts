// `tabwright train` on websites, whole: a model with a chat format behind `tabwright serve`, jailed browsers on the sites of
// agent_auth, WebJudge behind an endpoint of the test. The model has random weights, so what is proven is the wiring.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatServer } from '../../src/chat/fixtures/chat-server.ts';
import { serveJudge } from '../../src/judges/fixtures/judge-server.ts';
import { readRun } from '../../src/store/index.ts';
import { noJail, whyNot } from '../sandbox/jail.ts';
import { runCli, type CliOptions } from './run-cli.ts';
import { serveModel, type ServedModel } from './serve-model.ts';
import { writeTinyPretrained } from './tiny-pretrained.ts';

let folder: string;
let model: ServedModel;
let judge: ChatServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-train-web-'));
  if (noJail) return;
  const tiny = await writeTinyPretrained(folder);
  const named = ['--model', `hf:${tiny}`, '--model-name', 'Qwen/Qwen3-0.6B', '--checkpoints', join(folder, 'served')];
  model = await serveModel(named);
  judge = await serveJudge();
}, 240_000);
afterAll(async () => {
  await model?.[Symbol.asyncDispose]();
  await judge?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const SETTINGS = [
  ...['--env', 'agent_auth', '--tool', 'browser_repl', '--sessions', '2', '--max-turns', '2', '--max-corrections', '0'],
  ...['--turn-tokens', '300', '--trajectory-tokens', '8000', '--context-length', '8192', '--lora-rank', '2'],
  ...[
    '--steps',
    '2',
    '--groups',
    '2',
    '--group-size',
    '3',
    '--beta',
    '0',
    '--any-learning-rate',
    '--learning-rate',
    '1e-2',
  ],
  ...[
    '--eval-tasks',
    'test',
    '--eval-every',
    '2',
    '--eval-episodes',
    '2',
    '--reward',
    'webjudge',
    '--judge-model',
    'm',
  ],
];

async function train(out: string, more: readonly string[] = [], options: CliOptions = {}) {
  const { code, stderr } = await runCli(
    [
      ...[
        'train',
        '--model',
        'tinker:Qwen/Qwen3-0.6B',
        '--base-url',
        model.url,
        '--tokenizer',
        join(folder, 'Qwen3-0.6B'),
      ],
      ...[...SETTINGS, '--judge-base-url', judge.url, '--out', join(folder, out), ...more],
    ],
    { timeoutS: 580, ...options },
  );
  return { code, stderr };
}

async function figures(out: string) {
  const run = await readRun(join(folder, out));
  const rows = (await run.readMetrics()).map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !name.includes('time/'))),
  );
  return { run, rows };
}

describe.skipIf(noJail)(`training on websites${whyNot}`, () => {
  it(
    'trains, measures and notes everything; interrupted and gone on with, it is the same run',
    { timeout: 1_800_000 },
    async () => {
      const whole = await train('whole');
      expect(whole.code, whole.stderr).toBe(0);
      const { run, rows } = await figures('whole');
      expect(run.config).toMatchObject({
        env: 'agent_auth',
        tool: 'browser_repl',
        maxTurns: 2,
        maxCorrections: 0,
        turnTokens: 300,
        trajectoryTokens: 8000,
        limitReward: 'clamp',
        cellSeconds: 30,
        outputCharacters: 4000,
        renderer: expect.stringMatching(/^qwen3\/safe/) as string,
        reward: expect.stringMatching(/webjudge/) as string,
      });
      // Each row names who graded; held-out tasks were measured before the first step and after the last.
      expect(rows.map(({ step, reward_source }) => [step, reward_source])).toEqual(
        [0, 1, 2].map((step) => [step, run.config['reward']]),
      );
      expect(rows.map((row) => row['test/env/all/total_episodes'])).toEqual([2, undefined, 2]);
      expect(rows.slice(0, 2)).toMatchObject(
        Array(2).fill({ 'env/all/total_episodes': 6, 'env/all/invalid_episodes': 0, datums_per_trajectory: 1 }),
      );
      expect(rows[0]['optim/updates']).toBe(1);
      const episodes = await run.readRollouts('train-000000');
      // A thinking model's budget is for the whole reply, and what a limit ended is worth nothing.
      const replies = episodes.flatMap(({ turns }) => turns.map(({ actionTokens }) => actionTokens.length));
      expect(Math.max(...replies)).toBeLessThanOrEqual(300);
      for (const { outcome, turns } of episodes) {
        const answered = turns.at(-1)!.action.kind === 'answer';
        expect(outcome).toMatchObject({
          kind: 'finished',
          stop: answered ? 'answered' : 'malformed',
          reward: Number(answered),
        });
      }
      const checkpoints = await run.readCheckpoints();
      expect(checkpoints.map(({ batch }) => batch)).toEqual([1, 2]);
      expect(checkpoints[1].sampler_path).toMatch(/^tinker:\/\/.*\/sampler_weights\/train-000002$/);

      let stopped = false;
      const first = await train('stopped', [], {
        onStderr: (text, kill) => {
          if (stopped || !/1\/2 steps/.test(text)) return;
          stopped = true;
          kill('SIGINT');
        },
      });
      expect(first.code, first.stderr).toBe(130);
      expect((await figures('stopped')).rows.length).toBeLessThan(3);
      const again = await train('stopped', ['--resume']);
      expect(again.code, again.stderr).toBe(0);
      expect((await figures('stopped')).rows).toEqual(rows);
    },
  );

  it('refuses what cannot work before anything is begun', { timeout: 300_000 }, async () => {
    const dry = ['train', '--env', 'agent_auth', '--pool', 'p'];
    const away = await runCli([...dry, '--model', 'tinker:x'], { env: { KERNEL_BASE_URL: '' } });
    expect(away.code).toBe(2);
    expect(away.stderr).toMatch(
      /sites of agent_auth are served on this machine, where Kernel's browsers \(--pool p\) cannot reach/,
    );
    const port = await runCli([...dry, '--model', 'tinker:x'], { env: { KERNEL_BASE_URL: 'http://127.0.0.1:9' } });
    expect(port.stderr).toContain("tabwright browsers serve --allow '*.test=127.0.0.1:<n>'");
    const flag = await runCli(['train', '--eval-every', '2']);
    expect(flag.stderr).toContain('--eval-every and --eval-episodes are for --eval-tasks');
    const there = ['--model', 'tinker:Qwen/Qwen3-0.6B', '--base-url', model.url];
    const small = ['--tokenizer', join(folder, 'Qwen3-0.6B'), '--pages', '1', '--context-length', '6000'];
    const rate = await runCli(['train', ...there, ...small, '--learning-rate', '7e-4', '--out', join(folder, 'never')]);
    expect(rate.code).toBe(2);
    expect(rate.stderr).toMatch(
      /--learning-rate 0\.0007 is what supervised fine-tuning of .* takes .* give about 0\.00004/,
    );
  });
});

it('plans a run at hosted services without a key: model, budgets, episodes', { timeout: 120_000 }, async () => {
  const { code, stdout, stderr } = await runCli(
    [
      ...['train', '--env', 'agent_auth', '--tool', 'browser_repl', '--model', 'tinker:Qwen/Qwen3.6-35B-A3B'],
      ...['--pool', 'rl-training', '--eval-tasks', 'test', '--reward', 'webjudge', '--judge-model', 'm', '--dry-run'],
    ],
    {
      env: {
        ...{ TINKER_BASE_URL: '', TINKER_API_KEY: '', KERNEL_API_KEY: '', OPENROUTER_API_KEY: '' },
        ...{ KERNEL_BASE_URL: '', HF_ENDPOINT: 'http://127.0.0.1:9' },
      },
    },
  );
  expect(code, stderr).toBe(0);
  for (const line of [
    /^ {2}renderer +qwen3\.6\/safe$/m,
    /^ {2}thinks +true$/m,
    /^ {2}turn tokens +4096$/m,
    /^ {2}trajectory tokens +65536$/m,
    /^ {2}reward +webjudge$/m,
    /^ {2}learning rate +0\.00004$/m,
    /^ {2}episodes +7680$/m,
    /^ {2}browsers +4 asked of Kernel's pool rl-training$/m,
    /^ {2}attention +The sites of agent_auth are served on this machine/m,
    /^ {2}TINKER_API_KEY +not set$/m,
    /^ {2}KERNEL_API_KEY +not set$/m,
    /^ {2}OPENROUTER_API_KEY +not set$/m,
  ]) {
    expect(stdout).toMatch(line);
  }
});
