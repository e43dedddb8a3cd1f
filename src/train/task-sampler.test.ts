import { describe, expect, it } from 'vitest';
import { countBits, createToyCheckboxes, toyWanted } from '../testing/index.ts';
import { createTaskSampler } from './task-sampler.ts';

const env = createToyCheckboxes();
const wanted = ({ seed }: { seed: number }): string => String(countBits(toyWanted(seed)));

describe('createTaskSampler', () => {
  it('draws every class equally often, though one of eight puzzles wants nothing and three of eight want one', () => {
    const sample = createTaskSampler({ env, firstSeed: 500, balanceKey: wanted });
    const counts = new Map<string, number>();
    for (const task of sample(0, 40)) counts.set(wanted(task), (counts.get(wanted(task)) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toEqual({ 0: 10, 1: 10, 2: 10, 3: 10 });
  });

  it('fills up with the others where a class runs out', () => {
    const sample = createTaskSampler({ env, firstSeed: 500, balanceKey: wanted, candidatesPerTask: 1 });
    expect(new Set(sample(0, 40).map(({ seed }) => seed)).size).toBe(40);
  });

  it('is pure in the step, and steps share no puzzle', () => {
    const sample = createTaskSampler({ env, firstSeed: 500, balanceKey: wanted });
    const steps = [0, 1, 2, 3].map((step) => sample(step, 6).map(({ seed }) => seed));
    expect(sample(2, 6).map(({ seed }) => seed)).toEqual(steps[2]);
    expect(new Set(steps.flat()).size).toBe(24);
    expect(Math.min(...steps.flat())).toBeGreaterThanOrEqual(500);
  });

  it('starts its rounds at another class each step', () => {
    const sample = createTaskSampler({ env, firstSeed: 500, balanceKey: wanted });
    expect([0, 1, 2, 3, 4].map((step) => wanted(sample(step, 1)[0])).every((key) => key !== undefined)).toBe(true);
    const classes = [0, 1, 2, 3].map((step) => sample(step, 5).map(wanted).sort().join(''));
    expect(classes).toEqual(['00123', '01123', '01223', '01233']);
  });
});
