import { describe, expect, it } from 'vitest';
import type { TextRule } from '../loaded-task.ts';
import { applyRule } from './text-rules.ts';

const holds = (rule: TextRule, text: string): boolean => {
  const result = applyRule(rule, text);
  if ('ask' in result) throw new Error('undecided');
  return result.holds;
};
const exact = (value: string, text: string): boolean => holds({ rule: 'exact', value }, text);
const includes = (values: readonly string[], text: string, words = false): boolean =>
  holds({ rule: 'includes', values: values.map((value) => value.split(' |OR| ')), words }, text);

describe('exact', () => {
  it.each([
    ['Quest Band', '  "quest band" '],
    ['Quest Band', 'Quest\u00A0Band'],
    ['1,000', '1000'],
    ['$12.50', '12.5'],
    ['yes', 'YES'],
  ])('%j is met by %j', (reference, text) => expect(exact(reference, text)).toBe(true));

  it.each([
    ['Quest Band', 'The Quest Band'],
    ['5', '5%'],
    ['5', '5.1'],
    ['5', ''],
    ['10', '1.0'],
    ['2', '"2" or "3"'],
  ])('%j is not met by %j', (reference, text) => expect(exact(reference, text)).toBe(false));
});

describe('includes', () => {
  it('finds every reference, in any order', () => {
    expect(includes(['apple', 'pear'], 'a pear and an apple')).toBe(true);
    expect(includes(['pear', 'apple'], 'a pear and an apple')).toBe(true);
    expect(includes(['apple', 'pear'], 'an apple')).toBe(false);
  });

  it('an empty answer includes nothing', () => expect(includes(['apple'], '')).toBe(false));

  it('an empty reference is included in nothing', () => expect(includes([''], 'all that there is')).toBe(false));

  it('a number is not found in a longer one, whichever way it is longer', () => {
    for (const text of ['120', '312', '1.12', '12.5', '112', '12,000', '-12 degrees']) {
      expect(includes(['12'], text), text).toBe(false);
    }
    for (const text of ['12', '12.', '12, 13', 'it is 12', '12.0', '$12', '10-12', 'version v1, 12 items']) {
      expect(includes(['12'], text), text).toBe(true);
    }
  });

  it('a number is found in its other spelling', () => {
    expect(includes(['1,000'], 'about 1000 people')).toBe(true);
    expect(includes(['1000'], 'about 1,000 people')).toBe(true);
    expect(includes(['12.50'], 'costs $12.5')).toBe(true);
  });

  it('a text that begins or ends with a digit does not cut a number', () => {
    expect(includes(['12 oz'], 'a can of 112 oz')).toBe(false);
    expect(includes(['page 1'], 'on page 12')).toBe(false);
    expect(includes(['page 1'], 'on page 1.5')).toBe(false);
    expect(includes(['page 1'], 'on page 1.')).toBe(true);
  });

  it('one character is a word of its own, also where there are several references', () => {
    expect(includes(['0'], '10 results')).toBe(false);
    expect(includes(['x', 'y'], 'xylophone')).toBe(false);
    expect(includes(['x', 'y'], 'x, y')).toBe(true);
  });

  it('one of several alternatives is enough', () => {
    expect(includes(['apple |OR| pear'], 'a pear')).toBe(true);
    expect(includes(['apple |OR| pear'], 'a plum')).toBe(false);
  });

  it('a word is a whole word only where the benchmark wants it so', () => {
    expect(includes(['cat'], 'a category')).toBe(true);
    expect(includes(['cat'], 'a category', true)).toBe(false);
    expect(includes(['cat'], 'a cat.', true)).toBe(true);
    expect(includes(['big cat'], 'a big category', true)).toBe(true);
  });
});

it('excludes: the reference may not be there', () => {
  const excludes = (text: string): boolean => holds({ rule: 'excludes', values: ['sold out'], words: false }, text);
  expect(excludes('in stock')).toBe(true);
  expect(excludes('SOLD  OUT')).toBe(false);
});

it('one-of as a whole: a text that names them all is none of them', () => {
  const oneOf = (text: string): boolean => holds({ rule: 'one-of', values: ['Ann', '12.0'], whole: true }, text);
  expect(['ann', '12', 'Ann or 12', 'Ann and Bob', 'Bob'].map(oneOf)).toEqual([true, true, false, false, false]);
});

it('one-of: one reference is enough, none is not', () => {
  const oneOf = (text: string): boolean => holds({ rule: 'one-of', values: ['Ann', '12'] }, text);
  expect(oneOf('Ann')).toBe(true);
  expect(oneOf('it is 12')).toBe(true);
  expect(oneOf('it is 120')).toBe(false);
});

it('numbers: every inequality has to hold, of a number that stands alone', () => {
  const numbers = (text: string): boolean =>
    holds(
      {
        rule: 'numbers',
        values: [
          [{ relation: '>=', value: 300 }],
          [
            { relation: '<', value: 1000 },
            { relation: '==', value: 2000 },
          ],
        ],
      },
      text,
    );
  expect([numbers('300'), numbers('1,999'), numbers('2,000'), numbers('299'), numbers('999.5')]).toEqual([
    true,
    false,
    true,
    false,
    true,
  ]);
  expect([numbers(''), numbers('about 500'), numbers('NaN'), numbers('Infinity'), numbers('500 or 600')]).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
});

describe('what a judge has to decide', () => {
  it('is left to one, and never when nothing was said', () => {
    expect(applyRule({ rule: 'means', values: ['red'] }, 'scarlet')).toHaveProperty('ask');
    expect(holds({ rule: 'means', values: ['red'] }, '  ')).toBe(false);
    expect(applyRule({ rule: 'unachievable', reason: 'no such shop' }, 'There is no such shop.')).toHaveProperty('ask');
    expect(holds({ rule: 'unachievable', reason: 'no such shop' }, '')).toBe(false);
    expect(holds({ rule: 'unachievable', reason: 'no such shop' }, '"N/A"')).toBe(true);
  });
});

it('a long page takes no time that grows with how often a reference is nearly there', () => {
  const page = '10 '.repeat(100_000);
  const before = process.cpuUsage();
  expect(includes(['0'], page)).toBe(false);
  expect(includes(['1x', '0 11'], page)).toBe(false);
  expect(includes(['page 0'], page)).toBe(false);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(20); // seconds; work that is quadratic takes hours
});
