import { expect, test } from 'vitest';
import { answerIs, expectedText, type Expected } from './answers.ts';

const NUMBER: Expected = { kind: 'number', value: 1200 };
const MONEY: Expected = { kind: 'money', pence: 1250 };
const TEXT: Expected = { kind: 'text', value: 'The Salted Garden' };
const DATE: Expected = { kind: 'date', value: '2027-03-05' };
const TIME: Expected = { kind: 'time', value: '14:30' };
const LIST: Expected = { kind: 'list', values: ['Birch', 'Cedar'] };

test.each([
  [NUMBER, '1200'],
  [NUMBER, '1,200'],
  [NUMBER, ' There are 1200 of them. '],
  [NUMBER, '1200.0'],
  [NUMBER, '１２００'],
  [MONEY, '£12.50'],
  [MONEY, '12.5'],
  [MONEY, 'GBP 12.50'],
  [TEXT, 'the salted  garden'],
  [TEXT, '“The Salted Garden”.'],
  [TEXT, '**The Salted Garden**'],
  [DATE, '2027-03-05'],
  [DATE, '5 March 2027'],
  [DATE, 'Friday, 5th of March 2027'],
  [DATE, 'Mar 5, 2027'],
  [TIME, '14:30'],
  [TIME, '2:30 pm'],
  [TIME, 'at 14.30'],
  [LIST, 'Cedar, birch'],
  [LIST, '- Birch\n- Cedar'],
  [LIST, 'Birch and Cedar'],
] as const)('%j is said by %j', (expected, given) => {
  expect(answerIs(expected, given)).toBe(true);
});

test.each([
  [NUMBER, undefined],
  [NUMBER, ''],
  [NUMBER, '1201'],
  [NUMBER, '-1200'],
  [NUMBER, '12,00'],
  [NUMBER, '1200 or 1300'],
  [NUMBER, '1 2 3 1200'],
  [NUMBER, 'twelve hundred'],
  [NUMBER, 'not 1200'],
  [NUMBER, '1200 or more'],
  [NUMBER, '~1200'],
  [NUMBER, '>1200'],
  [NUMBER, '1200+'],
  [NUMBER, '1200?'],
  [NUMBER, '1200 schools'],
  [MONEY, '12.50 million'],
  [MONEY, '-£12.50'],
  [MONEY, 'at least £12.50'],
  [MONEY, '£12.51'],
  [MONEY, '$12.50'],
  [MONEY, '12.50 euros'],
  [MONEY, '£12.50 (reduced from £15.00)'],
  [TEXT, 'Salted Garden'],
  [TEXT, 'The Salted Garden, The Salted River'],
  [TEXT, 'The answer is The Salted Garden'],
  [DATE, '05/03/2027'],
  [DATE, '2027-05-03'],
  [DATE, '5 March 2027 or 6 March 2027'],
  [TIME, '2:30'],
  [TIME, '14'],
  [TIME, '14:30 and 15:30'],
  [TIME, '26:30'],
  [LIST, 'Birch'],
  [LIST, 'Birch, Cedar, Maple'],
  [LIST, 'Birch, Birch, Cedar'],
] as const)('%j is not said by %j', (expected, given) => {
  expect(answerIs(expected, given)).toBe(false);
});

test('an answer longer than any value is none, however right its words are', () => {
  expect(answerIs(NUMBER, `${'I looked at everything. '.repeat(20)}1200`)).toBe(false);
});

test.each([NUMBER, MONEY, TEXT, DATE, TIME, LIST])('%j is right in the words that the oracle would use', (expected) => {
  expect(answerIs(expected, expectedText(expected))).toBe(true);
});

test('words of the question may stand around a number, but for those that change it', () => {
  const question = 'How many schools have more than 300 pupils, or not one?';
  expect(answerIs(NUMBER, '1200 schools', question)).toBe(true);
  expect(answerIs(NUMBER, 'There is 1200 school.', question)).toBe(true);
  for (const given of ['more than 1200 schools', 'not 1200', '1200 or', '1200 teachers'])
    expect(answerIs(NUMBER, given, question), given).toBe(false);
});
