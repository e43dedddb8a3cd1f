import { expect, test } from 'vitest';
import { createPuzzle } from './puzzle.ts';
import { scoreBoxes } from './score.ts';

const SEEDS = Array.from({ length: 20_000 }, (_, seed) => seed);
const puzzles = SEEDS.map(createPuzzle);

test('a seed is a puzzle, and always the same one', () => {
  expect(createPuzzle(17)).toEqual(createPuzzle(17));
  // Written down, so that a change of the generator does not go unnoticed: published figures depend on it.
  expect(createPuzzle(0)).toEqual({
    labels: ['wp4g', 'GX', 'J7nZW', 'rDHc', 'quc8I'],
    wanted: [true, false, true, true, false],
    instruction: 'Select wp4g, J7nZW, rDHc and click Submit.',
  });
  expect(createPuzzle(1)).toEqual({
    labels: ['z8Ii', 's77'],
    wanted: [false, false],
    instruction: 'Select nothing and click Submit.',
  });
});

test('2 to 6 boxes, equally often, with distinct labels of 2 to 8 letters and digits, equally often', () => {
  const boxes = new Map<number, number>();
  const lengths = new Map<number, number>();
  for (const { labels, wanted } of puzzles) {
    if (new Set(labels).size !== labels.length || wanted.length !== labels.length) throw new Error(labels.join());
    boxes.set(labels.length, (boxes.get(labels.length) ?? 0) + 1);
    for (const label of labels) {
      if (!/^[A-Za-z0-9]{2,8}$/.test(label)) throw new Error(label);
      lengths.set(label.length, (lengths.get(label.length) ?? 0) + 1);
    }
  }
  const labelCount = [...lengths.values()].reduce((sum, count) => sum + count);
  // Five standard errors of a fifth of 20,000 and of a seventh of about 80,000.
  expect([...boxes.keys()].sort()).toEqual([2, 3, 4, 5, 6]);
  for (const count of boxes.values()) expect(Math.abs(count / SEEDS.length - 1 / 5)).toBeLessThan(0.0142);
  expect([...lengths.keys()].sort()).toEqual([2, 3, 4, 5, 6, 7, 8]);
  for (const count of lengths.values()) expect(Math.abs(count / labelCount - 1 / 7)).toBeLessThan(0.0062);
});

test('each box is wanted with probability one half', () => {
  const all = puzzles.flatMap(({ wanted }) => wanted);
  expect(Math.abs(all.filter(Boolean).length / all.length - 0.5)).toBeLessThan(5 * Math.sqrt(0.25 / all.length));
});

test('submitting at once is exactly right as often as nothing is wanted: 9.7 %', () => {
  const right = puzzles.filter(
    ({ wanted }) =>
      scoreBoxes(
        wanted,
        wanted.map(() => false),
      ).exact,
  ).length;
  // (1/5) (2^-2 + ... + 2^-6) = 0.096875
  expect(Math.abs(right / SEEDS.length - 0.096875)).toBeLessThan(5 * Math.sqrt((0.096875 * 0.903125) / SEEDS.length));
});
