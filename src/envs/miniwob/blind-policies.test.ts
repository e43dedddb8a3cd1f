import { expect, test } from 'vitest';
import { blindTarget, type BlindPolicy } from './blind-policies.ts';

const PAGE =
  'text "Pick one" [1]\ncheckbox "a \\"b\\" [9]" [2]\ncheckbox "c" [checked] [3]\nbutton "Submit" [4]\ntext "below" [5]';

function clicks(policy: BlindPolicy, page: string, count: number): readonly (number | undefined)[] {
  const clicked = new Set<number>();
  return Array.from({ length: count }, () => {
    const target = blindTarget(policy, page, clicked);
    if (target !== undefined) clicked.add(target);
    return target;
  });
}

test('each clicks what its name says', () => {
  expect(clicks('submit', PAGE, 2)).toEqual([4, 4]);
  expect(clicks('first', PAGE, 3)).toEqual([2, 4, 4]);
  expect(clicks('every', PAGE, 4)).toEqual([2, 3, 4, 4]);
});

test('without a button that ends things the last element is clicked, on an empty page none', () => {
  expect(clicks('submit', 'text "x" [1]\nbutton "Other" [2]', 1)).toEqual([2]);
  expect(clicks('submit', '', 1)).toEqual([undefined]);
});
