// A finished run judged anew: figures that follow from known verdicts, what the judge gets to see of stored episodes, and
// the command as a process. The endpoint is a stand-in whose verdicts are known; no browser is needed.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeJudgedRun, judgedRunJson, judgeRun, type JudgeRunOptions } from '../../src/cli/judge-run.ts';
import type { Asked } from '../../src/chat/fixtures/chat-server.ts';
import { asJson, type ChatRecord, type JsonObject, type Outcome, type Trajectory } from '../../src/core/index.ts';
import { createOutcomeJudge, createRubricJudge } from '../../src/judges/index.ts';
import { FAILURE, modelOf, promptOf, serveJudge, SUCCESS } from '../../src/judges/fixtures/judge-server.ts';
import { createRun, readRun, type ReadonlyRunFolder } from '../../src/store/index.ts';
import { wilsonInterval } from '../../src/stats/index.ts';
import { runCli } from '../cli/run-cli.ts';

const { signal } = new AbortController();
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CELL = 'WHAT-A-CELL-WROTE';

/** What the judge will say of each, by a mark in the answer. */
const PLAN = [
  { file: 'solved', label: true, mark: 'SAY-SUCCESS', count: 12 },
  { file: 'solved', label: true, mark: 'SAY-FAILURE', count: 4 },
  { file: 'solved', label: true, mark: 'SAY-NOTHING', count: 2 },
  { file: 'lie', label: false, mark: 'SAY-SUCCESS', count: 3 },
  { file: 'lie', label: false, mark: 'SAY-FAILURE', count: 17 },
  { file: 'lie', label: false, mark: 'SAY-NOTHING', count: 2 },
] as const;

const verdictByMark = (asked: Asked): unknown => {
  const prompt = promptOf(asked);
  return prompt.includes('SAY-SUCCESS') ? SUCCESS : prompt.includes('SAY-FAILURE') ? FAILURE : 'no verdict';
};

function episode(id: string, answer: string, outcome: Outcome): Trajectory<ChatRecord> {
  const act = { cell: 1, effect: 'acts', urlBefore: 'http://a.test/', urlAfter: 'http://a.test/b', result: 'done' };
  const log = [
    { index: 1, ...act, helper: 'click', subject: { element: { role: 'button', name: 'Send "now"' } } },
    { index: 2, ...act, helper: 'pageInfo', effect: 'looks', subject: {} },
  ].map(asJson);
  const turn = (
    action: ChatRecord & { readonly info: JsonObject },
    text: string,
  ): Trajectory<ChatRecord>['turns'][number] => ({
    action: { kind: 'answer', text },
    page: CELL,
    nextPage: CELL,
    notice: CELL,
    changed: false,
    evidence: 'end.png',
    ...action,
  });
  const record = { reply: { text: answer, calls: [] }, stop: 'stop' } as const;
  return {
    task: { id: `a/${id}`, env: 'a', instruction: 'Send it.', seed: 0, startUrl: 'http://a.test/' },
    member: 0,
    turns: [turn({ ...record, info: { kind: 'answer', log, omitted: { acts: 3, looks: 0 } } }, answer)],
    outcome,
    seconds: 1,
  };
}

const finished = (success: boolean): Outcome => ({
  kind: 'finished',
  success,
  reward: 0,
  stop: 'answered',
  details: {},
});
const invalid = (boundary: 'judge' | 'browser'): Outcome => ({ kind: 'invalid', boundary, code: 'c', message: 'm' });

let folder: string;
let run: ReadonlyRunFolder;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-judge-run-'));
  const dir = join(folder, 'run');
  await using made = await createRun(dir, { config: {} });
  await made.writeScreenshot('end.png', PNG);
  for (const file of ['solved', 'lie'] as const) {
    const own = PLAN.filter((one) => one.file === file);
    await made.writeRollouts(
      file,
      own.flatMap(({ label, mark, count }) =>
        Array.from({ length: count }, (_, i) => episode(`${mark}-${i}`, `${mark} ${file} ${i}.`, finished(label))),
      ),
    );
  }
  await made.writeRollouts('unjudged', [
    episode('unlabelled', 'SAY-SUCCESS', invalid('judge')),
    episode('broken', 'SAY-SUCCESS', invalid('browser')),
  ]);
  run = await readRun(dir);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function judged(options: Partial<JudgeRunOptions> = {}) {
  await using server = await serveJudge({ outcome_verdict: verdictByMark });
  const judge = createOutcomeJudge({ model: modelOf(server) });
  const result = await judgeRun({ run, judge, signal, ...options });
  return { result, judge, json: judgedRunJson(result, judge), asked: server.asked };
}

describe('a run judged anew', () => {
  it('has the figures that follow from the verdicts', async () => {
    const { json, result, judge, asked } = await judged();
    expect(asked).toHaveLength(41);
    const rate = (count: number, of: number): object => {
      const [low, high] = wilsonInterval(count, of);
      return { value: count / of, low, high, count, of };
    };
    expect(json).toMatchObject({
      skipped: 1,
      unlabelled: 1,
      judge: { kind: 'outcome', model: 'judge-model' },
      spent: { calls: 41, promptTokens: 41 * 11, cost: null },
      figures: {
        n: 40,
        truePositives: 12,
        falsePositives: 3,
        trueNegatives: 17,
        falseNegatives: 4,
        precision: rate(12, 15),
        recall: rate(12, 16),
        falsePositiveRate: rate(3, 20),
        agreement: rate(29, 36),
        invalid: rate(4, 40),
        worstRecall: rate(12, 18),
        worstFalsePositiveRate: rate(5, 22),
      },
      rollouts: { solved: { n: 18 }, lie: { n: 22 }, unjudged: { n: 0 } },
    });
    const text = describeJudgedRun(result, judge);
    expect(text).toContain('41 episodes, 1 of them without a label, 1 skipped.');
    expect(text).toContain('Not judged: 4 × judge-bad-reply');
    expect(text).toMatch(/^solved +judged a success: 12 of 18 successes, 0 of 0 failures$/m);
  });

  it('shows the judge the host’s log and pictures and the claim, and nothing that a cell wrote', async () => {
    const { asked } = await judged({ rollouts: ['lie'], criteria: 'Only what is sent counts.' });
    expect(asked).toHaveLength(22);
    const prompt = promptOf(asked[0]);
    expect(prompt).toContain('| action 1: click "button" "Send \\"now\\"" on "http://a.test/" -> "http://a.test/b"\n');
    expect(prompt).toContain('| action 2: 3 more, which the log had no room for\n');
    expect(prompt).toContain('Picture 1 of 1:\n\n[picture]');
    expect(prompt).toContain('Criteria:\nOnly what is sent counts.');
    expect(prompt).not.toContain(CELL);
    expect(prompt).not.toContain('pageInfo');
  });

  it('gives each task its rubric', async () => {
    await using server = await serveJudge();
    const rubrics = new Map([['a/unlabelled', [{ id: 'r', description: '', facts: ['It is sent.'] }]]]);
    const judge = createRubricJudge({ model: modelOf(server), maxPictures: 0 });
    const { episodes } = await judgeRun({ run, judge, rollouts: ['unjudged'], rubrics, signal });
    expect(episodes).toMatchObject([{ task: 'a/unlabelled', label: null, judgement: { verdict: 'success' } }]);
  });
});

describe('the commands of the guide', () => {
  const KEY = 'sk-nobody-may-see';
  /** What the guide says after `start`, with this test's run, endpoint and files. */
  async function commandOf(start: string, url: string): Promise<readonly string[]> {
    const guide = await readFile('docs/guide/judges.md', 'utf8');
    const line = guide.split('\n').find((one) => one.startsWith(start))!;
    const places: Readonly<Record<string, string>> = {
      'runs/eval': join(folder, 'run'),
      'http://127.0.0.1:8000/v1': url,
      'judged.json': join(folder, 'out', 'judged.json'),
      'runs/judge-cache': join(folder, 'cache'),
    };
    const words = line.slice(start.length).trim().split(' ');
    return words.map((word) => places[word] ?? word);
  }

  it('judge: figures, every verdict in a file, and the key is kept', { timeout: 180_000 }, async () => {
    await using server = await serveJudge({ webjudge_verdict: verdictByMark });
    const args = await commandOf('npm run tabwright -- judge', server.url);
    const { code, stdout, stderr } = await runCli(
      ['judge', ...args, '--judge-base-url', server.url, '--judge-prices', '2,10'],
      { env: { OPENROUTER_API_KEY: KEY } },
    );
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^precision +80\.0 % \[54\.8, 93\.0\] +\(12 of 15\)$/m);
    expect(stdout).toContain(`123 calls, 1353 + 861 tokens, $${((1353 * 2 + 861 * 10) / 1e6).toFixed(4)}`);
    const written = await readFile(join(folder, 'out', 'judged.json'), 'utf8');
    const json = JSON.parse(written) as { episodes: readonly object[] };
    expect(json.episodes).toHaveLength(41);
    expect(json.episodes[0]).toMatchObject({ rollouts: 'lie', label: false, verdict: 'success', cached: false });
    expect(server.asked[0]).toMatchObject({ key: `Bearer ${KEY}`, body: { model: 'openai/o4-mini' } });
    expect(stdout + stderr + written).not.toContain(KEY);
  });

  it('judge without pictures and schemas', { timeout: 180_000 }, async () => {
    await using server = await serveJudge({ plain: verdictByMark });
    const args = await commandOf('npm run tabwright -- judge runs/eval --reward', server.url);
    const { code, stdout, stderr } = await runCli(['judge', join(folder, 'run'), '--reward', ...args]);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('41 calls, 451 + 287 tokens, cost not known');
    expect(JSON.stringify(server.asked)).not.toContain('image_url');
  });

  it(
    'a run of which nothing got a verdict fails, and its figures are there all the same',
    { timeout: 180_000 },
    async () => {
      await using server = await serveJudge({ plain: () => 'no verdict' });
      const args = await commandOf('npm run tabwright -- judge runs/eval --reward', server.url);
      const { code, stdout, stderr } = await runCli(['judge', join(folder, 'run'), '--reward', ...args]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('None of 41 episodes got a verdict.')]);
      expect(stdout).toContain('Not judged: 41 × judge-bad-reply');
    },
  );

  it('the bench, on a set that is there; what is in the cache is not asked again', { timeout: 180_000 }, async () => {
    await using server = await serveJudge({ webjudge_verdict: verdictByMark });
    const args = await commandOf('npx tsx bench/judges.ts', server.url);
    const all = ['--import', 'tsx', 'bench/judges.ts', ...args, '--set', join(folder, 'run'), '--base-url', server.url];
    const bench = async (): Promise<string> => (await promisify(execFile)(process.execPath, all)).stdout;
    expect(await bench()).toContain('123 calls');
    // Four could not be judged, and are asked about again.
    const again = await bench();
    expect(again).toContain('12 calls');
    expect(again).toMatch(/^false-positive rate +15\.0 % \[5\.2, 36\.0\] +\(3 of 20\)$/m);
  });

  it('a judge needs a model', { timeout: 120_000 }, async () => {
    const { code, stderr } = await runCli(['judge', join(folder, 'run')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--judge-model')]);
  });
});
