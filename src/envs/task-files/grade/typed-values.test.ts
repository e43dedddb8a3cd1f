import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../core/index.ts';
import type { TypedAnswerCheck } from '../loaded-task.ts';
import { typedAnswerProblem } from './typed-answer.ts';
import { sameList, sameTyped } from './typed-values.ts';

const same = (format: string, expected: JsonValue, actual: JsonValue): boolean =>
  sameTyped(expected, actual, { format });

describe('two spellings of one value', () => {
  it.each([
    ['string', 'Quest “Lumaflex” Band', 'quest "lumaflex"  band'],
    ['string', '15231', 15231],
    ['number', 1000, '1,000'],
    ['number', 0.5, '0.50'],
    ['boolean', true, 'Yes'],
    ['date', '2023-02-01', '02/01/2023'],
    ['date', '2023-02-01', 'Feb 1, 2023'],
    ['date', '2023-02-01', '1st February 2023'],
    ['date', '2023-02-01', '2023-02-01T10:30:00Z'],
    ['duration', '01:30:00', '1h 30min'],
    ['duration', '01:30:00', '90 minutes'],
    ['duration', '01:30:00', 5400],
    ['distance', '3.5km', '3,500 m'],
    ['distance', '1 mile', '1.609344 km'],
    ['currency', '$1,234.50', '1234.5'],
    ['currency', '$5', '5 USD'],
    ['url', 'http://a.test/x/?b=2&a=1', 'https://A.test/x?a=1&b=2'],
    ['coordinates', '40.4427, -79.9430', { latitude: 40.44271, longitude: -79.94301 }],
    ['full_address', '5000 Forbes Ave., Pittsburgh', '5000 forbes ave Pittsburgh'],
    ['string', '^quest.*band$', 'Quest Lumaflex Band'],
    ['string', '^a\\-b$', 'A-b'],
    ['string', '^(($', '^(($'],
  ])('%s: %j is %j', (format, expected, actual) => expect(same(format, expected, actual)).toBe(true));
});

describe('two values', () => {
  it.each([
    ['string', 'Band', 'Bands'],
    ['number', 6, '66'],
    ['number', 6, ''],
    ['number', 6, 'six'],
    ['number', 6, null],
    ['boolean', true, 'no'],
    ['date', '2023-02-01', '2023-01-02'],
    ['date', '2023-02-30', '2023-02-30'],
    ['duration', '01:30:00', '01:30'],
    ['duration', '01:30:00', '1 h'],
    ['distance', '3.5km', '3.5 mi'],
    ['currency', '$5', '5 EUR'],
    ['currency', '$5', '$5.01'],
    ['url', 'http://a.test/x', 'http://b.test/x'],
    ['coordinates', '40.4427, -79.9430', '40.45, -79.94'],
    ['coordinates', '40.4427, -79.9430', '40.4427'],
    ['string', '^band$', 'the band'],
  ])('%s: %j is not %j', (format, expected, actual) => expect(same(format, expected, actual)).toBe(false));
});

describe('lists', () => {
  const items = { type: 'string' };
  it('are compared without an order unless one is asked for', () => {
    expect(sameList(['a', 'b'], ['b', 'a'], items, false)).toBe(true);
    expect(sameList(['a', 'b'], ['b', 'a'], items, true)).toBe(false);
  });
  it('count how often a value is there', () => {
    expect(sameList(['a', 'a', 'b'], ['a', 'b', 'b'], items, false)).toBe(false);
    expect(sameList(['a'], ['a', 'a'], items, false)).toBe(false);
  });
  it('a value that meets several expectations is given to the one that needs it', () => {
    expect(sameList([['a', 'b'], 'a'], ['a', 'b'], items, false)).toBe(true);
    expect(sameList([['a', 'b'], 'a'], ['b', 'b'], items, false)).toBe(false);
  });
  it('of objects are compared by their fields’ types', () => {
    const schema = {
      type: 'object',
      properties: { mode: { type: 'string' }, time: { type: 'string', format: 'duration' } },
    };
    expect(
      sameList([{ mode: 'walking', time: '00:05:00' }], [{ time: '5 min', mode: 'Walking', note: 'x' }], schema, false),
    ).toBe(true);
    expect(sameList([{ mode: 'walking', time: '00:05:00' }], [{ mode: 'Walking' }], schema, false)).toBe(false);
  });
});

describe('the answer as an object', () => {
  const check: TypedAnswerCheck = {
    kind: 'typed-answer',
    taskType: 'retrieve',
    status: 'SUCCESS',
    data: [6],
    schema: { type: 'array', items: { type: 'number' } },
    ordered: false,
  };
  const right = { task_type: 'RETRIEVE', status: 'success', retrieved_data: ['6'] };
  const problem = (answer: string | undefined, to: Partial<TypedAnswerCheck> = {}): string | undefined =>
    typedAnswerProblem({ ...check, ...to }, answer);

  it('is taken whole or out of one block of code', () => {
    expect(problem(JSON.stringify(right))).toBeUndefined();
    expect(problem(`Here it is:\n\`\`\`json\n${JSON.stringify(right)}\n\`\`\``)).toBeUndefined();
  });

  it.each([
    ['nothing', undefined],
    ['words', 'It is 6.'],
    ['another status', JSON.stringify({ ...right, status: 'NOT_FOUND_ERROR' })],
    ['another kind of task', JSON.stringify({ ...right, task_type: 'navigate' })],
    ['other data', JSON.stringify({ ...right, retrieved_data: [7] })],
    ['more data than asked for', JSON.stringify({ ...right, retrieved_data: [6, 7] })],
    ['no data', JSON.stringify({ ...right, retrieved_data: null })],
    ['an empty list', JSON.stringify({ ...right, retrieved_data: [] })],
    ['two objects, one of them right', `\`\`\`json\n{"a":1}\n\`\`\`\n\`\`\`json\n${JSON.stringify(right)}\n\`\`\``],
  ])('%s is wrong', (_, answer) => expect(problem(answer)).toBeTypeOf('string'));

  it('data is not looked at where nothing is to be retrieved, and must be none where there is none', () => {
    expect(
      problem(JSON.stringify({ task_type: 'mutate', status: 'SUCCESS', retrieved_data: ['x'] }), {
        taskType: 'mutate',
        data: null,
      }),
    ).toBeUndefined();
    const none = { status: 'NOT_FOUND_ERROR', data: null };
    expect(
      problem(JSON.stringify({ ...right, status: 'NOT_FOUND_ERROR', retrieved_data: null }), none),
    ).toBeUndefined();
    expect(problem(JSON.stringify({ ...right, status: 'NOT_FOUND_ERROR' }), none)).toBeTypeOf('string');
  });
});
