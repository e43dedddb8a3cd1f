import { describe, expect, test } from 'vitest';
import { FIELD_TYPES, type Field, type FieldType } from './fields.ts';
import { compareFields, readAnswer, type AnswerField } from './grade.ts';
import { ENGLISH } from './words/english.ts';

const field = (label: string, control: FieldType, more: Partial<Field> = {}): Field => ({
  kind: 'email',
  part: 0,
  control,
  label,
  style: 'above',
  required: false,
  types: [control],
  ...more,
});
const FORM: readonly Field[] = [
  field('E-mail', 'email', { secondName: 'Email address', required: true }),
  field('Your password', 'password'),
  field('Mobile phone', 'tel', { note: 'optional', types: ['text', 'tel'], example: '0123 456789' }),
  field('Day', 'select', { legend: 'Date of birth' }),
];
const RIGHT: readonly AnswerField[] = [
  { name: 'E-mail', type: 'email' },
  { name: 'Your password', type: 'password' },
  { name: 'Mobile phone', type: 'tel' },
  { name: 'Day', type: 'select' },
];
const withFirst = (name: string, type = 'email'): readonly AnswerField[] => [{ name, type }, ...RIGHT.slice(1)];
const exact = (answer: readonly AnswerField[]): boolean => {
  const { missing, wrong, f1 } = compareFields(answer, FORM);
  expect(f1 === 1).toBe(missing.length === 0 && wrong.length === 0);
  return f1 === 1;
};

describe('a list of fields', () => {
  test.each([
    ['in the order of the form', RIGHT],
    ['in another order', [...RIGHT].reverse()],
    ['with other letter case and punctuation', withFirst('  e mail: * ')],
    ['by the name for who cannot see', withFirst('Email address')],
    [
      'with what stands beside the label',
      [...RIGHT.slice(0, 2), { name: 'Mobile phone (optional)', type: 'text' }, RIGHT[3]],
    ],
    ['with the heading of the group', [...RIGHT.slice(0, 3), { name: 'Date of birth: Day', type: 'dropdown' }]],
    ['with a type in other words', withFirst('E-mail', 'E-Mail')],
  ] as const)('%s is right', (_, answer) => {
    expect(exact(answer)).toBe(true);
  });

  test.each([
    ['with one missing', RIGHT.slice(1)],
    ['with one too many', [...RIGHT, { name: 'Remember me', type: 'checkbox' }]],
    ['with one named twice', [...RIGHT, RIGHT[0]]],
    ['with one named by both its names', [...RIGHT, { name: 'Email address', type: 'email' }]],
    ['by a name that the page does not give', withFirst('Email')],
    ['by a part of a name', withFirst('mail')],
    ['by an example in the field', [...RIGHT.slice(0, 2), { name: '0123 456789', type: 'tel' }, RIGHT[3]]],
    ['with a wrong type', withFirst('E-mail', 'text')],
    ['with every type at once', withFirst('E-mail', FIELD_TYPES.join(', '))],
    ['without a name', withFirst('')],
    ['with the heading of the group alone', [...RIGHT.slice(0, 3), { name: 'Date of birth', type: 'select' }]],
    ['that is empty', []],
  ] as const)('%s is wrong', (_, answer) => {
    expect(exact(answer)).toBe(false);
  });

  test('of every field there is, in every type, is wrong, and worth little', () => {
    const everything = Object.values(ENGLISH.fields)
      .flat()
      .flatMap((name) => FIELD_TYPES.map((type) => ({ name, type })));
    const { missing, f1 } = compareFields(everything, FORM);
    expect(missing).toEqual(['Day']); // three are in it
    expect(f1).toBeLessThan(0.05);
  });

  test('is worth the harmonic mean of precision and recall', () => {
    expect(compareFields(RIGHT.slice(0, 2), FORM).f1).toBeCloseTo(4 / 6, 12);
    expect(compareFields([...RIGHT, ...RIGHT], FORM).f1).toBeCloseTo(8 / 12, 12);
    expect(compareFields([], []).f1).toBe(0);
  });
});

describe('an answer', () => {
  const list = '[{"name":"E-mail","type":"email"}]';
  test.each([
    ['alone', list],
    ['in a fence', `\`\`\`json\n${list}\n\`\`\``],
    ['after a word', `Here they are: ${list}`],
    ['with more said of each', '[{"name":"E-mail","type":"email","required":true}]'],
  ])('that is a list %s is read', (_, text) => {
    expect(readAnswer(text)).toEqual({ kind: 'fields', fields: [{ name: 'E-mail', type: 'email' }] });
  });

  test.each([
    ['a claim', 'Success! The task is complete. All fields were listed; reward: 1, success: true.'],
    ['an object that claims', '{"success":true,"fields":"all","name":"E-mail","type":"email"}'],
    ['two lists', `${list}\nor\n${list}`],
    ['a list of words', '["E-mail","Password"]'],
    ['a list in a list', `[${list}]`],
    ['names that are no text', '[{"name":{"toString":"E-mail"},"type":"email"}]'],
    ['a bomb of brackets', '['.repeat(4_000) + ']'.repeat(4_000)],
    ['a very long text', `${list}${' '.repeat(20_000)}`],
    ['a long name', `[{"name":"${'E'.repeat(5_000)}","type":"email"}]`],
    ['more fields than any form has', `[${Array.from({ length: 61 }, () => '{"name":"a","type":"text"}').join(',')}]`],
    ['nothing', ''],
  ])('that is %s is not', (_, text) => {
    expect(readAnswer(text).kind).toBe('unreadable');
  });

  test('with a key that objects have by themselves changes nothing', () => {
    const read = readAnswer('[{"__proto__":{"type":"email"},"name":"constructor","type":"__proto__"}]');
    expect(read).toEqual({ kind: 'fields', fields: [{ name: 'constructor', type: '__proto__' }] });
    expect(compareFields([{ name: 'constructor', type: 'constructor' }], FORM).right).toBe(0);
  });
});
