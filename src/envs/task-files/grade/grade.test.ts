import { describe, expect, it } from 'vitest';
import { TabwrightError } from '../../../core/index.ts';
import type { Check } from '../loaded-task.ts';
import { gradeSnapshot, targetKey, type AskJudge } from './grade.ts';
import type { JudgeQuestion, Snapshot } from './snapshot.ts';

const { signal } = new AbortController();
const END: Snapshot = {
  answer: 'scarlet',
  url: 'http://a.test/x',
  texts: new Map(),
  states: new Map(),
  network: undefined,
};
const text = (...rules: Extract<Check, { kind: 'answer-text' }>['rules']): Check => ({ kind: 'answer-text', rules });
const means = text({ rule: 'means', values: ['red', 'a colour'] });
const url: Check = { kind: 'final-url', references: ['http://a.test/x'], rule: 'contained' };
const grade = async (checks: readonly Check[], end: Partial<Snapshot> = {}, judge?: AskJudge): Promise<boolean> => {
  const given = judge === undefined ? { signal } : { judge, signal };
  return (await gradeSnapshot({ id: '1', instruction: 'Which?', checks }, { ...END, ...end }, given)).success;
};
const code = async (graded: Promise<unknown>): Promise<string> => {
  try {
    await graded;
  } catch (error) {
    if (error instanceof TabwrightError) return `${error.boundary}/${error.code}`;
    throw error;
  }
  return 'graded';
};
const says =
  (answer: boolean, asked: JudgeQuestion[] = []): AskJudge =>
  (question) => {
    asked.push(question);
    return Promise.resolve(answer);
  };

it('all checks have to hold', async () => {
  expect(await grade([url, text({ rule: 'exact', value: 'scarlet' })])).toBe(true);
  expect(await grade([url, text({ rule: 'exact', value: 'blue' })])).toBe(false);
  expect(await grade([text({ rule: 'exact', value: 'scarlet' }), { ...url, references: ['http://b.test/'] }])).toBe(
    false,
  );
});

it('a later rule does not undo an earlier one that fails', async () => {
  const both = text({ rule: 'exact', value: 'blue' }, { rule: 'unachievable', reason: 'none' });
  expect(await grade([both], { answer: 'It cannot be done.' }, says(true))).toBe(false);
});

it('no answer is wrong, also where only something must not be said', async () => {
  const excludes = text({ rule: 'excludes', values: ['blue'], words: false });
  for (const answer of [undefined, '', '  ']) expect(await grade([excludes], { answer })).toBe(false);
  expect(await grade([excludes])).toBe(true);
});

describe('judges', () => {
  it('decide what code leaves open, every question of it', async () => {
    const asked: JudgeQuestion[] = [];
    expect(await grade([means], {}, says(true, asked))).toBe(true);
    expect(asked).toEqual(
      ['red', 'a colour'].map((reference) => ({
        about: 'same-meaning',
        instruction: 'Which?',
        reference,
        answer: 'scarlet',
      })),
    );
    expect(await grade([means], {}, says(false))).toBe(false);
  });

  it('are not asked where code has found it wrong', async () => {
    const asked: JudgeQuestion[] = [];
    expect(await grade([means, { ...url, references: ['http://b.test/'] }], {}, says(true, asked))).toBe(false);
    expect(asked).toEqual([]);
  });

  it('that are missing or fail make no failure of it', async () => {
    expect(await code(grade([means]))).toBe('judge/no-judge');
    const broken: AskJudge = () =>
      Promise.reject(new TabwrightError('judge', 'no verdict', { code: 'judge-bad-reply' }));
    expect(await code(grade([means], {}, broken))).toBe('judge/judge-bad-reply');
  });

  it('get the facts of a rubric and what is expected of it', async () => {
    const asked: JudgeQuestion[] = [];
    const groups = [{ id: 'a', description: '', facts: ['it is red'] }];
    await grade([{ kind: 'judged', question: { about: 'facts', groups, answer: 'red' } }], {}, says(true, asked));
    await grade(
      [{ kind: 'judged', question: { about: 'rubric', rubric: 'says red', expected: false } }],
      {},
      says(true, asked),
    );
    expect(asked).toEqual([
      { about: 'facts', groups, reference: 'red', instruction: 'Which?', answer: 'scarlet' },
      { about: 'rubric', rubric: 'says red', expected: false, instruction: 'Which?', answer: 'scarlet' },
    ]);
  });
});

describe('what cannot be graded is invalid, not failed', () => {
  it.each([
    ['env/no-checks', [], {}],
    ['env/unsupported-evaluator', [{ kind: 'unsupported', evaluator: 'page_image_query', reason: 'pictures' }], {}],
    ['env/no-final-url', [url], { url: undefined }],
    ['env/no-state', [{ kind: 'state', query: 'a', expected: 1, stateUrl: 'http://a.test/finish' }], {}],
  ] as const)('%s', async (expected, checks, end) => {
    expect(await code(grade(checks as readonly Check[], end as Partial<Snapshot>))).toBe(expected);
  });
});

describe('pages', () => {
  const target = {
    page: 'last',
    locator: 'document.title',
    prepare: [],
    rules: [{ rule: 'excludes', values: ['error'], words: false }],
  } as const;
  const check: Check = { kind: 'page-content', targets: [target] };
  const at = (read: string | null): Partial<Snapshot> => ({ texts: new Map([[targetKey(target), read]]) });
  it('hold what they must, and a page without the thing is the wrong page', async () => {
    expect(await grade([check], at('all is well'))).toBe(true);
    expect(await grade([check], at('an error'))).toBe(false);
    expect(await grade([check], at(null))).toBe(false);
    expect(await code(grade([check]))).toBe('env/no-page-text');
  });
});

describe('states', () => {
  const state = { cart: { items: [{ name: 'Ramen', count: 1 }] }, differences: { added: {} } };
  const holds = (query: string, expected: unknown): Promise<boolean> =>
    grade([{ kind: 'state', query, expected: expected as never, stateUrl: 'u' }], { states: new Map([['u', state]]) });
  it('are queried, and compared exactly', async () => {
    expect(await holds('cart.items[0].name', 'Ramen')).toBe(true);
    expect(await holds('cart.items[0].count', 1)).toBe(true);
    expect(await holds('length(cart.items)', 1)).toBe(true);
    expect(await holds("contains(cart.items[0].name, 'Ram')", true)).toBe(true);
    expect(await holds('cart.items[0].count', true)).toBe(false); // 1 and true are equal in some languages
    expect(await holds('cart.items[0].count', '1')).toBe(false);
    expect(await holds('cart.items[1].name', 'Ramen')).toBe(false);
    expect(await holds('cart.items[1].name', null)).toBe(true);
    expect(await holds("contains(cart.items[1].name, 'Ram')", true)).toBe(false);
  });
});
