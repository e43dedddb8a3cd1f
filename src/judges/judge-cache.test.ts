// Judgements that are kept: what they are keyed by, and that a file which is not what was written is not believed.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FAILURE, modelOf, serveJudge, type JudgeReplies } from './fixtures/judge-server.ts';
import type { Judge, JudgeInput } from './judge.ts';
import { inputHash, judgementKey, withJudgeCache } from './judge-cache.ts';
import { createOutcomeJudge } from './outcome-judge.ts';

const { signal } = new AbortController();
const INPUT: JudgeInput = {
  instruction: 'Send it.',
  stop: 'answered',
  actions: [],
  pictures: [Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1])],
  answer: 'done',
};
let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'tabwright-judgements-')), 'new', 'folder');
});
afterEach(() => rm(join(folder, '..', '..'), { recursive: true, force: true }));

async function withJudge(
  replies: JudgeReplies,
  work: (judge: Judge, damaged: string[]) => Promise<void>,
): Promise<number> {
  await using server = await serveJudge(replies);
  const damaged: string[] = [];
  const judge = createOutcomeJudge({ model: modelOf(server) });
  // Another address would be another judge; the test wants the same one on another port.
  const fixed = { ...judge, id: 'outcome/judge-model/fixed' };
  await work(withJudgeCache(fixed, { folder, onDamaged: (path) => damaged.push(path) }), damaged);
  return server.asked.length;
}

const file = async (): Promise<string> => join(folder, (await readdir(folder))[0]);

it('the same episode is asked about once, over processes', async () => {
  const first = await withJudge({}, async (judge) => {
    expect(await judge.judge(INPUT, { signal })).toMatchObject({ verdict: 'success', cached: false });
    expect(await judge.judge(INPUT, { signal })).toMatchObject({
      verdict: 'success',
      reasoning: 'All of it is to be seen.',
      cached: true,
      spending: { calls: 0, cost: 0 },
    });
    expect(judge.spent().calls).toBe(1);
  });
  const second = await withJudge({ outcome_verdict: FAILURE }, async (judge) => {
    expect((await judge.judge(INPUT, { signal })).verdict).toBe('success');
  });
  expect([first, second]).toEqual([1, 0]);
});

it('what could not be judged is asked about again', async () => {
  const asked = await withJudge({ outcome_verdict: 'no JSON' }, async (judge) => {
    expect((await judge.judge(INPUT, { signal })).verdict).toBe('invalid');
    expect(await readdir(folder).catch(() => [])).toEqual([]);
    await judge.judge(INPUT, { signal });
  });
  expect(asked).toBe(2);
});

it.each([
  ['is cut off', (text: string) => text.slice(0, 80)],
  ['is empty', () => ''],
  ['has its verdict turned', (text: string) => text.replace('"failure"', '"success"')],
  ['is of another version', (text: string) => text.replace('"version":1', '"version":2')],
  ['is of another key', (text: string) => text.replace(/"key":"\w{4}/, '"key":"0000')],
])('a file that %s is not believed: the judge is asked, and the file replaced', async (_, damage) => {
  await withJudge({ outcome_verdict: FAILURE }, async (judge) => void (await judge.judge(INPUT, { signal })));
  const path = await file();
  await writeFile(path, damage(await readFile(path, 'utf8')));
  const asked = await withJudge({ outcome_verdict: FAILURE }, async (judge, damaged) => {
    expect(await judge.judge(INPUT, { signal })).toMatchObject({ verdict: 'failure', cached: false });
    expect(damaged).toEqual([path]);
    expect(await judge.judge(INPUT, { signal })).toMatchObject({ verdict: 'failure', cached: true });
  });
  expect(asked).toBe(1);
});

it('a file of another episode under its name is not believed', async () => {
  await withJudge({}, async (judge) => {
    await judge.judge(INPUT, { signal });
    const other = { ...INPUT, answer: 'other' };
    await writeFile(join(folder, `${judgementKey(judge, other)}.json`), await readFile(await file()));
    expect((await judge.judge(other, { signal })).cached).toBe(false);
  });
});

it('everything that is shown and everything that decides is in the key', () => {
  const judge = { id: 'a', promptHash: 'b', model: 'c' };
  const [picture] = INPUT.pictures;
  const inputs: readonly JudgeInput[] = [
    INPUT,
    { ...INPUT, instruction: 'x' },
    { ...INPUT, stop: 'x' },
    { ...INPUT, actions: undefined },
    { ...INPUT, actions: ['x'] },
    { ...INPUT, answer: undefined },
    { ...INPUT, pictures: [] },
    { ...INPUT, pictures: [picture, picture] },
    { ...INPUT, criteria: 'x' },
    { ...INPUT, startUrl: 'x' },
    { ...INPUT, pages: [{ url: 'x', text: '' }] },
    { ...INPUT, rubric: [{ id: 'x', description: '', facts: [] }] },
  ];
  expect(new Set(inputs.map(inputHash)).size).toBe(inputs.length);
  const keys = [judge, { ...judge, id: 'x' }, { ...judge, promptHash: 'x' }, { ...judge, model: 'x' }];
  expect(new Set(keys.map((one) => judgementKey(one, INPUT))).size).toBe(4);
});
