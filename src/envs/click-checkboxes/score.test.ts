import { expect, test } from 'vitest';
import { scoreBoxes } from './score.ts';

const [yes, no] = [true, false];

test.each([
  { wanted: [yes, no, yes], checked: [yes, no, yes], exact: true, reward: 1, missing: 0, extra: 0 },
  { wanted: [yes, no, yes], checked: [yes, no, no], exact: false, reward: 1 / 3, missing: 1, extra: 0 },
  { wanted: [yes, no, yes], checked: [no, yes, no], exact: false, reward: -1, missing: 2, extra: 1 },
  { wanted: [no, no], checked: [no, no], exact: true, reward: 1, missing: 0, extra: 0 },
  { wanted: [no, no], checked: [yes, no], exact: false, reward: 0, missing: 0, extra: 1 },
])('wanted $wanted, checked $checked: reward $reward', ({ wanted, checked, ...expected }) => {
  expect(scoreBoxes(wanted, checked)).toEqual({
    ...expected,
    boxes: wanted.length,
    wanted: wanted.filter(Boolean).length,
    wrong: expected.missing + expected.extra,
  });
});

test('a missing state is an error, not a wrong box', () => {
  expect(() => scoreBoxes([yes, no], [yes])).toThrow(/2 boxes, 1 states/);
});
