import { describe, expect, it } from 'vitest';
import { createPuzzle, scoreBoxes } from '../envs/index.ts';
import { blindSubmitBaseline, wantedBoxes } from './click-checkboxes.ts';

describe('what submitting at once reaches', () => {
  it('is the published closed form', () => {
    expect(blindSubmitBaseline().exact).toBeCloseTo(0.0969, 4);
    expect(blindSubmitBaseline().lenient).toBeCloseTo(0.381, 3);
  });

  it('agrees with the puzzles themselves', () => {
    const seeds = Array.from({ length: 20_000 }, (_, seed) => createPuzzle(seed));
    const exact = seeds.filter((puzzle) => wantedBoxes(puzzle) === 0).length / seeds.length;
    const lenient =
      seeds.filter(
        ({ wanted }) =>
          scoreBoxes(
            wanted,
            wanted.map(() => false),
          ).reward > 0,
      ).length / seeds.length;
    // Five standard errors of 20,000 draws.
    expect(Math.abs(exact - blindSubmitBaseline().exact)).toBeLessThan(0.011);
    expect(Math.abs(lenient - blindSubmitBaseline().lenient)).toBeLessThan(0.018);
  });
});
