// `tabwright eval`: scripted policies in every kind of environment, what is written, a run that is killed and gone on with, a
// browser that is killed, a judge, and what is refused. What is killed is a process; the rest runs in this one, which is cheaper.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveChat } from '../../src/chat/fixtures/chat-server.ts';
import { describeAgentAuth } from '../../src/envs/index.ts';
import { evaluate as evalCommand } from '../../src/cli/commands/eval.ts';
import { compareEvaluations, readEvaluation, type Evaluation } from '../../src/experiments/index.ts';
import { readRun } from '../../src/store/index.ts';
import { servePages, type PageServer } from '../repl/page-server.ts';
import { noJail, whyNot } from '../sandbox/jail.ts';
import { runCli, type CliOptions } from './run-cli.ts';
import { runHere } from './run-here.ts';

const TIMEOUT = 240_000;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-eval-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const evaluate = async (name: string, args: readonly string[], options: CliOptions = {}) => {
  const output = join(folder, `${name}.json`);
  const result = await runCli(['eval', '--out', join(folder, name), '--output', output, ...args], {
    timeoutS: 220,
    ...options,
  });
  const read = (): Promise<Evaluation> => readEvaluation(output);
  return { ...result, read };
};

/** The same in this process. */
const evaluateHere = async (name: string, args: readonly string[]) => {
  const output = join(folder, `${name}.json`);
  const result = await runHere(evalCommand, ['--out', join(folder, name), '--output', output, ...args]);
  return { ...result, evaluation: await readEvaluation(output) };
};

/** Without what no two runs share. */
function lasting({ date: _date, commit: _commit, summary, byTask, episodes, ...rest }: Evaluation) {
  const { wallSeconds: _wall, secondsMean: _mean, ...figures } = summary;
  return {
    ...rest,
    summary: figures,
    byTask: byTask.map(({ secondsMean: _seconds, ...task }) => task),
    episodes: episodes.map(({ seconds: _seconds, ...episode }) => episode),
  };
}

test(
  'the oracle solves every puzzle, although its browser is killed meanwhile; the file has all that a comparison needs',
  async () => {
    let killed = 0;
    const args = ['--model', 'scripted:oracle', '--episodes', '24', '--pages', '2'];
    const { code, stdout, stderr, read } = await evaluate('oracle', args, {
      onStderr(text, _kill, pid) {
        if (killed === 0 && /\b[4-9]\/24 episodes/.test(text)) killed = killBrowsersOf(pid);
      },
    });
    expect(killed).toBeGreaterThan(0);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/scripted:oracle on click-checkboxes 1; success by code\n {2}success 100\.0.%/);
    const evaluation = await read();
    expect(evaluation).toMatchObject({
      model: 'scripted:oracle',
      renderer: null,
      environment: { name: 'click-checkboxes', version: '1', split: 'all', settings: { pages: 2 } },
      reward: 'code',
      sampling: { seed: 1, temperature: 1, samples: 1 },
      versions: { chromium: expect.stringMatching(/Chrome/) as string },
      summary: { episodes: 24, valid: 24, successes: 24, cost: null, wallSeconds: expect.any(Number) as number },
    });
    expect(evaluation.episodes.map(({ seed }) => seed)).toEqual(Array.from({ length: 24 }, (_, i) => 1_000_000 + i));
    expect(await readEvaluation(join(folder, 'oracle'))).toEqual(evaluation); // the run folder has it too
    const run = await readRun(join(folder, 'oracle'));
    expect(run.config).toMatchObject({ command: 'eval', model: 'scripted:oracle', episodes: 24, samples: 1, pages: 2 });
    expect(await run.readAnyRollouts('eval')).toHaveLength(24);
    // Who broke off by the killed browser was played again, and that is counted.
    const [row] = await run.readMetrics();
    expect(row['rollout_errors/total']).toBeGreaterThan(0);
  },
  TIMEOUT,
);

test('samples are tries at the same puzzles; killed in the middle and gone on with, exactly the missing ones are played', async () => {
  const args = ['--model', 'nano', '--temperature', '1', '--episodes', '8', '--samples', '3', '--pages', '2'];
  const whole = await evaluateHere('whole', args);
  const one = whole.evaluation;
  expect(one.renderer).toBe('nano/1');
  expect(new Set(one.episodes.map(({ task, seed }) => `${task} ${seed}`)).size).toBe(8);
  expect(one.episodes.map(({ sample }) => sample)).toEqual(Array.from({ length: 24 }, (_, i) => i % 3));
  expect(one.summary.passAtK.map(({ k }) => k)).toEqual([1, 2, 3]);
  expect(one.summary.clustered).toMatchObject({ unit: 'instance', clusters: 8 });
  expect(one.summary.promptTokens).toBeGreaterThan(0);
  expect(whole.data).toMatchObject({ reward: 'code', summary: { episodes: 24 } });

  let killed = false;
  const out = join(folder, 'killed');
  const first = await evaluate('killed', args, {
    onStderr(text, kill) {
      if (killed || !/\b[6-9]\/24 episodes|\b1\d\/24 episodes/.test(text)) return;
      killed = true;
      kill('SIGKILL');
    },
  });
  expect([first.code, killed]).toEqual([null, true]);
  const part = await readFile(join(out, 'rollouts', 'eval.jsonl.part'), 'utf8');
  const done = part.split('\n').length - 1;
  expect(done).toBeGreaterThanOrEqual(6);
  expect(done).toBeLessThan(24);
  // As a machine leaves it that stops in the middle of a line.
  await writeFile(join(out, 'rollouts', 'eval.jsonl.part'), `${part}{"task":{"id":"torn`);
  const second = await evaluate('killed', [...args, '--resume', '--json']);
  expect(second.code, second.stderr).toBe(0);
  const last = JSON.parse(second.stdout.trim().split('\n').at(-1)!) as object;
  expect(last).toMatchObject({ kind: 'result', reward: 'code', summary: { episodes: 24 } });
  const kept = part.trim().split('\n');
  const trajectories = (await readFile(join(out, 'rollouts', 'eval.jsonl'), 'utf8')).split('\n');
  for (const line of kept) expect(trajectories).toContain(line); // not played again: seconds included
  expect((await readdir(join(out, 'rollouts'))).filter((name) => name.endsWith('.part'))).toEqual([]);
  const other = await second.read();
  expect(lasting(other)).toEqual(lasting(one));
  expect([one.summary.wallSeconds, other.summary.wallSeconds]).toEqual([expect.any(Number), null]);
  const before = await readFile(join(out, 'rollouts', 'eval.jsonl'), 'utf8');
  const { evaluation: same } = await evaluateHere('killed', [...args, '--resume']);
  expect(await readFile(join(out, 'rollouts', 'eval.jsonl'), 'utf8')).toBe(before); // nothing was left to play
  expect(lasting(same)).toEqual(lasting(one));
  expect(same.date).toBe(other.date); // it was complete then
}, 400_000);

describe.skipIf(noJail)(`on websites${whyNot}`, () => {
  let site: PageServer;
  beforeAll(async () => {
    site = await servePages();
  });
  afterAll(() => site?.[Symbol.asyncDispose]());

  const write = async (name: string, rows: readonly object[]): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return path;
  };
  const row = (id: string, url: string, answer?: string) => ({ id, url, instruction: 'Which heading?', answer });

  test(
    'what cannot be reached is invalid, counted by whose contract broke, and no failure',
    async () => {
      const tasks = await write('tasks.jsonl', [
        row('right', `${site.origin}/plain`, 'Hello'),
        row('wrong', `${site.origin}/plain`, 'Goodbye'),
        row('away', 'http://127.0.0.1:9/gone', 'Hello'),
      ]);
      const script = await write('answer.jsonl', [{ content: 'Hello' }]);
      const args = ['--tasks', tasks, '--model', `scripted:${script}`, '--sessions', '1'];
      const { printed, evaluation } = await evaluateHere('away', args);
      const { summary, episodes, environment, reward } = evaluation;
      expect([environment.name, reward]).toEqual(['tasks', 'code']);
      expect(episodes.map(({ task, result }) => [task, result])).toEqual([
        ['right', 'success'],
        ['wrong', 'failure'],
        ['away', 'invalid'],
      ]);
      expect(episodes[2]).toMatchObject({ reward: null, failure: { boundary: 'browser', code: 'start-page-failed' } });
      expect(summary).toMatchObject({ valid: 2, invalid: 1, success: 1 / 2, bounds: [1 / 3, 2 / 3] });
      expect(printed).toContain('1 of 3 episodes broke off and count neither way: browser/start-page-failed 1 times');
      expect(printed).toMatch(/were they all failures, or all successes: 33\.3 to 66\.7/);
    },
    TIMEOUT,
  );

  test(
    'a judge takes the place of the grader, is named with every figure, and what it cost is told',
    async () => {
      await using judge = await serveChat((_, { body }) => {
        const isRight = JSON.stringify(body.messages).includes('It says Hello');
        const verdict = isRight ? { unmet: [], verdict: 'success' } : { unmet: ['the heading'], verdict: 'failure' };
        return { content: JSON.stringify({ reasoning: 'I looked at the answer.', ...verdict }) };
      });
      const tasks = await write('judged.jsonl', [row('one', `${site.origin}/plain`, 'never said')]);
      const script = await write('said.jsonl', [{ content: 'It says Hello' }]);
      const judging = ['--reward', 'outcome', '--judge-model', 'some-judge', '--judge-base-url', judge.url];
      const args = ['--tasks', tasks, '--model', `scripted:${script}`, '--sessions', '1', ...judging];
      const { printed, evaluation } = await evaluateHere('judged', args);
      const { reward, judge: named, summary } = evaluation;
      expect(reward).toMatch(/^outcome.*some-judge/);
      expect(named).toMatchObject({ id: reward, kind: 'outcome', model: 'some-judge', calls: 1, cost: null });
      expect(summary).toMatchObject({ successes: 1, valid: 1 });
      expect(printed).toContain(`success by ${reward}`);
      expect((await readRun(join(folder, 'judged'))).config).toMatchObject({ reward, judgePrompts: named!.promptHash });
    },
    TIMEOUT,
  );

  test(
    'agent_auth: the oracle passes, doing nothing does not, on the same pages',
    async () => {
      const args = ['--env', 'agent_auth', '--episodes', '2', '--sessions', '2'];
      const { evaluation: best } = await evaluateHere('auth-oracle', [...args, '--model', 'scripted:oracle']);
      const { evaluation: worst } = await evaluateHere('auth-noop', [...args, '--model', 'scripted:noop']);
      expect(best.environment).toMatchObject({
        name: 'agent_auth',
        version: describeAgentAuth().version,
        split: 'test',
      });
      expect([best.summary.successes, worst.summary.successes]).toEqual([2, 0]);
      expect(best.episodes.map(({ task }) => task)).toEqual(worst.episodes.map(({ task }) => task));
      const compared = compareEvaluations({ a: worst, b: best });
      expect(compared).toMatchObject({ difference: 1, pairs: 2, verdict: 'undecided' }); // 2 are few
    },
    TIMEOUT,
  );
});

test(
  'questions in words need no browser',
  async () => {
    const file = join(folder, 'math.jsonl');
    await writeFile(file, '{"question":"6 times 7?","answer":"#### 42"}\n{"question":"1+0?","answer":"1"}\n');
    const { evaluation } = await evaluateHere('math', ['--env', `math:${file}`, '--model', 'scripted:blind']);
    const { summary, versions } = evaluation;
    expect(summary).toMatchObject({ episodes: 2, successes: 1 });
    expect(versions.chromium).toBeUndefined();
  },
  TIMEOUT,
);

test.each([
  [['--split', 'train'], /--split is for tasks that are divided/],
  [['--model', 'scripted:magic'], /magic cannot be read: .* Policies of click-checkboxes: oracle, noop, blind/],
  [['--seeds', '2', '--episodes', '3'], /--episodes 3: there are 2 instances; raise --seeds/],
])(
  '%j is refused as wrong usage',
  async (args, message) => {
    const refused = runHere(evalCommand, ['--pages', '1', '--out', join(folder, 'refused'), ...args]);
    await expect(refused).rejects.toMatchObject({
      boundary: 'config',
      message: expect.stringMatching(message) as string,
    });
    expect(existsSync(join(folder, 'refused'))).toBe(false);
  },
  TIMEOUT,
);

test(
  'a key that is missing is told before a browser is started, with the exit code of wrong usage',
  async () => {
    // No Chromium is there to be found: whoever looked for one first would say so.
    const env = { OPENROUTER_API_KEY: '', CHROME_PATH: join(folder, 'no-such-chromium') };
    const { code, stderr } = await runCli(['eval', '--model', 'openrouter:some/model'], { env });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/There is no key: set OPENROUTER_API_KEY/)]);
  },
  TIMEOUT,
);

/** Chromium processes below a process; how many were killed. */
function killBrowsersOf(pid: number): number {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const [, parent] = /^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${entry}/stat`, 'utf8')) ?? [];
      parents.set(Number(entry), Number(parent));
    } catch {
      continue; // it has ended
    }
  }
  const isBelow = (one: number): boolean => one === pid || (parents.has(one) && isBelow(parents.get(one)!));
  let killed = 0;
  for (const one of parents.keys()) {
    if (one === pid || !isBelow(one)) continue;
    try {
      if (!/chrom/i.test(readFileSync(`/proc/${one}/cmdline`, 'utf8'))) continue;
      process.kill(one, 'SIGKILL');
      killed++;
    } catch {
      continue; // it ended with another
    }
  }
  return killed;
}
