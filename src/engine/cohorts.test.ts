import { describe, expect, it } from 'vitest';
import { planScoring } from './cohorts.ts';

const sequence = (length: number): number[] => new Array<number>(length).fill(1);

describe('sequences to be scored', () => {
  it('share a batch where their padded lengths agree', () => {
    expect(planScoring([20, 3, 17, 16, 33].map(sequence), 100)).toEqual([
      { requests: [1, 3], time: 16 },
      { requests: [0, 2], time: 32 },
      { requests: [4], time: 48 },
    ]);
  });

  it('are cut where tokens times vocabulary would exceed what is computed at once', () => {
    const sizes = planScoring(new Array<number[]>(5).fill(sequence(16)), 2 ** 18).map(
      ({ requests }) => requests.length,
    );
    // 2^23 / 2^18 = 32 tokens a batch.
    expect(sizes).toEqual([2, 2, 1]);
  });
});
