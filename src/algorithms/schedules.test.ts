import { describe, expect, it } from 'vitest';
import { learningRateAt } from './schedules.ts';

describe('learningRateAt', () => {
  const rates = (schedule: Parameters<typeof learningRateAt>[0], steps: number[]) =>
    steps.map((step) => learningRateAt(schedule, step));

  it('climbs to the peak without a step of zero', () => {
    expect(rates({ shape: 'constant', peak: 8, warmupSteps: 4, totalSteps: 10 }, [0, 1, 3, 4, 9])).toEqual([
      2, 4, 8, 8, 8,
    ]);
  });

  it('falls in a line to its floor', () => {
    expect(rates({ shape: 'linear', peak: 1, totalSteps: 4, floor: 0.5 }, [0, 2, 4, 99])).toEqual([1, 0.75, 0.5, 0.5]);
  });

  it('falls as half a cosine', () => {
    const [start, middle, end] = rates({ shape: 'cosine', peak: 2, totalSteps: 10 }, [0, 5, 10]);
    expect(start).toBe(2);
    expect(middle).toBeCloseTo(1, 12);
    expect(end).toBeCloseTo(0, 12);
  });
});
