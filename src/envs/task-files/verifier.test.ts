// Which judge is asked what, and that a judge who cannot say makes no number. Real judges are tested where they are.

import { describe, expect, it } from 'vitest';
import { TabwrightError } from '../../core/index.ts';
import { NOTHING_SPENT, type Judge, type Judgement, type TextJudge } from '../../judges/index.ts';
import type { EpisodeEnd } from '../web-task/index.ts';
import { NO_NEEDS, type Check, type LoadedTask } from './loaded-task.ts';
import { loadTasks } from './load.ts';
import { parseRows } from './read-rows.ts';
import { taskFileVerifier, webTasksOf, type TaskJudges } from './verifier.ts';

const { signal } = new AbortController();
const spent = { details: {}, spending: NOTHING_SPENT, cached: false };
const YES: Judgement = { verdict: 'success', reasoning: 'seen', ...spent };
const NO: Judgement = { verdict: 'failure', reasoning: 'not seen', ...spent };
const NOBODY_KNOWS: Judgement = { verdict: 'invalid', code: 'judge-bad-reply', reason: 'no JSON', ...spent };

function judges(says: Judgement): { readonly asked: [string, unknown][]; readonly given: Required<TaskJudges> } {
  const asked: [string, unknown][] = [];
  const about =
    (name: string) =>
    (texts: unknown): Promise<Judgement> => {
      asked.push([name, texts]);
      return Promise.resolve(says);
    };
  const common = { id: 'j', promptHash: 'p', deadlineMs: 1000, spent: () => NOTHING_SPENT };
  const text: TextJudge = {
    ...common,
    equivalent: about('equivalent'),
    unachievable: about('unachievable'),
    holds: about('holds'),
  };
  const judge = (kind: Judge['kind']): Judge => ({ ...common, kind, model: 'm', judge: about(kind) });
  return { asked, given: { text, episode: judge('webjudge'), rubric: judge('rubric') } };
}

const taskWith = (check: Check): LoadedTask => ({
  id: 'a/b',
  startUrls: ['http://a.test/'],
  instruction: 'Which colour?',
  sites: [],
  needs: NO_NEEDS,
  checks: [check],
});
const END = {
  task: { id: 'file/a/b', env: 'file', instruction: 'Which colour?', seed: 0, startUrl: 'http://a.test/' },
  stop: 'answered',
  answer: 'scarlet',
  actions: [],
  pictures: [],
  session: { log: undefined },
} as unknown as EpisodeEnd;
const verify = (check: Check, given: TaskJudges): ReturnType<ReturnType<typeof taskFileVerifier>> =>
  taskFileVerifier([taskWith(check)], { judges: given })(END, { signal });

const means: Check = { kind: 'answer-text', rules: [{ rule: 'means', values: ['red'] }] };
const unachievable: Check = { kind: 'answer-text', rules: [{ rule: 'unachievable', reason: 'sold out' }] };
const rubric = (expected: boolean): Check => ({
  kind: 'judged',
  question: { about: 'rubric', rubric: 'names a colour', expected },
});
const groups = [{ id: 'g', description: '', facts: ['red'] }];
const facts: Check = { kind: 'judged', question: { about: 'facts', groups, answer: '' } };
const outcome: Check = { kind: 'judged', question: { about: 'outcome', references: ['Red'], note: 'may change' } };

describe('each question goes to its judge', () => {
  it.each<[Check, string, object]>([
    [means, 'equivalent', { question: 'Which colour?', reference: 'red', answer: 'scarlet' }],
    [unachievable, 'unachievable', { question: 'Which colour?', note: 'sold out', answer: 'scarlet' }],
    [rubric(true), 'holds', { question: 'Which colour?', rubric: 'names a colour', answer: 'scarlet' }],
    [
      facts,
      'rubric',
      { instruction: 'Which colour?', rubric: groups, answer: 'scarlet', actions: [], stop: 'answered' },
    ],
    [
      outcome,
      'webjudge',
      { instruction: 'Which colour?', criteria: expect.stringMatching(/- Red\nNote: may change$/u) as string },
    ],
  ])('%j', async (check, name, texts) => {
    const yes = judges(YES);
    expect(await verify(check, yes.given)).toMatchObject({ success: true, reward: 1 });
    expect(yes.asked).toEqual([[name, expect.objectContaining(texts)]]);
    expect(await verify(check, judges(NO).given)).toMatchObject({ success: false, reward: 0 });
  });

  it('a rubric that must not be met is met by a no', async () => {
    expect(await verify(rubric(false), judges(NO).given)).toMatchObject({ success: true });
    expect(await verify(rubric(false), judges(YES).given)).toMatchObject({ success: false });
  });
});

it('a task’s own criteria stand before known answers, and go with the task to whoever judges it', async () => {
  const { asked, given } = judges(YES);
  const task = { ...taskWith(outcome), criteria: 'It must be the lamp.', rubric: groups };
  await taskFileVerifier([task], { judges: given })(END, { signal });
  expect(asked).toEqual([['webjudge', expect.objectContaining({ criteria: 'It must be the lamp.' })]]);
  expect(webTasksOf([task, taskWith(outcome)])).toMatchObject([
    { criteria: 'It must be the lamp.', rubric: groups },
    {},
  ]);
  expect(webTasksOf([taskWith(outcome)])[0]).not.toHaveProperty('rubric');
});

it('our own rows say them: groups without an id are numbered', async () => {
  const row = { id: 1, url: 'http://a.test/', instruction: 'x', criteria: 'c', rubric: [{ facts: ['f'] }] };
  const [task] = loadTasks(await parseRows('t', Buffer.from(JSON.stringify([row]))));
  expect(task).toMatchObject({ criteria: 'c', rubric: [{ id: '1', description: '', facts: ['f'] }] });
  const empty = { ...row, rubric: [{ facts: [] }] };
  expect(() => loadTasks({ name: 't', container: 'json', rows: [{ where: 'row 1', value: empty }] })).toThrow(/rubric/);
});

it.each<[string, Check]>([
  ['means', means],
  ['unachievable', unachievable],
  ['rubric', rubric(false)],
  ['facts', facts],
  ['outcome', outcome],
])('a judge that cannot say, or is missing, gives no verdict: %s', async (_, check) => {
  await expect(verify(check, judges(NOBODY_KNOWS).given)).rejects.toMatchObject({
    boundary: 'judge',
    code: 'judge-bad-reply',
  });
  await expect(verify(check, {})).rejects.toMatchObject({ boundary: 'judge', code: 'no-judge' });
});

it('what the judge took is in the details, where an evaluation adds it up', async () => {
  const spending = { ...NOTHING_SPENT, calls: 1, promptTokens: 50, completionTokens: 5, cost: 0.5 };
  const twice: Check = { kind: 'answer-text', rules: [{ rule: 'means', values: ['red', 'crimson'] }] };
  const { details } = await verify(twice, judges({ ...YES, spending }).given);
  expect(details.judge).toMatchObject({ calls: 2, promptTokens: 100, completionTokens: 10, cost: 1 });
});

it('a task of another file is refused', async () => {
  const end = { ...END, task: { ...END.task, id: 'file/other' } };
  await expect(taskFileVerifier([taskWith(means)])(end, { signal })).rejects.toThrow(TabwrightError);
});

it('a tab that was closed before pages could be looked at is a failure, and no way out', async () => {
  const check: Check = { kind: 'final-url', references: ['http://a.test/'], rule: 'exact' };
  const session = { log: undefined, tab: () => Promise.resolve(undefined) };
  const end = { ...END, session } as unknown as EpisodeEnd;
  expect(await taskFileVerifier([taskWith(check)])(end, { signal })).toMatchObject({ success: false, reward: 0 });
});
