import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finalAnswer, gradeAnswer } from './answer.ts';
import { readNumber, sameNumber, showNumber, type ExactNumber } from './number.ts';

const number = (text: string): ExactNumber => {
  const value = readNumber(text);
  if (value === undefined) throw new Error(`${text} is no number`);
  return value;
};
const right = (reply: string, reference: string): boolean => gradeAnswer(reply, number(reference)).success;

describe('numbers', () => {
  it.each([
    ['1,000', '1000'],
    ['0.5', '1/2'],
    ['\\frac{1}{2}', '.5'],
    ['\\dfrac{3}{4}', '0.75'],
    ['1e3', '1000'],
    ['-7', '\u22127'],
    ['\u20137', '-7'],
    ['$1,234.50', '1234.5'],
    ['-$5', '-5'],
    ['$-5', '-5'],
    ['50%', '50'],
    ['1{,}000', '1000'],
    ['007', '7'],
    ['-0', '0'],
    ['12.', '12'],
  ])('%s equals %s', (a, b) => {
    expect(sameNumber(number(a), number(b))).toBe(true);
  });

  it.each([
    '',
    '-',
    '.',
    'NaN',
    'Infinity',
    '1e400',
    '1e-400',
    '1e999999999',
    '1,00',
    '1,0000',
    '1/0',
    '--5',
    '5 6',
    '0x10',
    '٣',
  ])('%j is no number, rather than some number', (text) => {
    expect(readNumber(text)).toBeUndefined();
  });

  it('floating point makes no two numbers equal', () => {
    expect(sameNumber(number('0.1'), number('0.10000000000000001'))).toBe(false);
    expect(sameNumber(number('9007199254740993'), number('9007199254740992'))).toBe(false);
  });

  it('what is shown reads as the same number', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 60n), 10n ** 60n), fc.bigInt(1n, 10n ** 30n), (numerator, denominator) => {
        const value = number(`${numerator}/${denominator}`);
        expect(sameNumber(number(showNumber(value)), value)).toBe(true);
        expect(value.numerator * denominator).toBe(numerator * value.denominator);
      }),
    );
  });
});

describe('the answer of a reply', () => {
  it.each([
    ['She has 3 + 4 = 7 apples.\n#### 7', '7', 'hashes'],
    ['So \\boxed{42}.', '42', 'boxed'],
    ['\\boxed{\\frac{1}{2}}', '1/2', 'boxed'],
    ['#### $1,000 dollars', '1000', 'hashes'],
    ['The total is 18.', '18', 'last-number'],
    ['first #### 5, no: \\boxed{6}', '6', 'boxed'],
    ['\\boxed{6} and then\n#### 5', '5', 'hashes'],
    ['\\boxed{1} \\boxed{2}', '2', 'boxed'],
    ['It falls by 3, to -4', '-4', 'last-number'],
    ['20 - 8', '8', 'last-number'],
    ['20-8', '8', 'last-number'],
    ['#### - 8', '-8', 'hashes'],
    ['\\boxed{\\text{about } 5 \\text{ apples}}', '5', 'boxed'],
  ])('%j gives %s (%s)', (reply, answer, from) => {
    const final = finalAnswer(reply);
    expect(final).toMatchObject({ kind: 'number', from });
    expect(final.kind === 'number' && sameNumber(final.value, number(answer))).toBe(true);
  });

  it.each([
    ['#### 5 or 6', 'several answers'],
    ['\\boxed{5, 6, 7}', 'several answers'],
    ['#### 1 2 3 4 5 6 7', 'several answers'],
    ['the answer is 5\n####', 'a marker without an answer'],
    ['5 \\boxed{}', 'an empty box'],
    ['5 \\boxed{x}', 'a box without a number'],
    ['\\boxed{5', 'a box that is not closed'],
    ['I do not know.', 'no number'],
    ['', 'nothing'],
    ['#### NaN', 'no number'],
    ['#### 1e400', 'a number beyond all bounds'],
    ['#### 1,00', 'a comma that is no separator'],
  ])('%j gives none: %s', (reply) => {
    expect(finalAnswer(reply).kind).toBe('none');
    expect(right(reply, '5')).toBe(false);
  });

  it('a right number that stands before the marker does not count', () => {
    expect(right('The answer is 5. 5. 5.\n#### 6', '5')).toBe(false);
  });

  it('a right number inside a longer one does not count', () => {
    expect(right('#### 15', '5')).toBe(false);
    expect(right('#### 0.5', '5')).toBe(false);
    expect(right('#### 5.01', '5')).toBe(false);
    expect(right('15', '5')).toBe(false);
    expect(right('5e3', '5')).toBe(false);
  });

  it('takes a time that does not grow with what the reply is made of', () => {
    const digits = '9'.repeat(100_000);
    const hard = [
      digits,
      `#### ${digits}`,
      `\\boxed{${digits}}`,
      `${'1,'.repeat(100_000)}1`,
      '\\boxed{'.repeat(50_000),
      '\\frac{'.repeat(50_000),
      `\\boxed{${'{'.repeat(100_000)}`,
      `1e${digits}`,
      `${'-'.repeat(200_000)}5`,
      `${'1/'.repeat(100_000)}2`,
      `${' '.repeat(200_000)}5x`,
    ];
    const before = process.cpuUsage();
    for (const reply of hard) expect(right(reply, '7')).toBe(false);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(5); // seconds for all of them; quadratic work on 200,000 signs takes minutes
  });
});
