import { describe, expect, it } from 'vitest';
import { EVAL_FIRST_SEED, quickstartConfigSchema, trainingSeeds } from './quickstart-config.ts';

describe('seeds of puzzles', () => {
  it('are a million for collecting and a million for training, shared with no other run and no evaluation', () => {
    const firsts = [0, 1, 2, 7, 22, 500, 1_000_000_000].flatMap((seed) => Object.values(trainingSeeds(seed)));
    const sorted = [...firsts].sort((a, b) => a - b);
    expect(sorted[0]).toBeGreaterThanOrEqual(EVAL_FIRST_SEED + 1_000_000);
    for (const [i, first] of sorted.slice(1).entries()) expect(first - sorted[i]).toBeGreaterThanOrEqual(1_000_000);
    expect(Number.isSafeInteger(sorted.at(-1)! + 1_000_000)).toBe(true);
    expect(quickstartConfigSchema.safeParse({ seed: 1_000_000_001 }).success).toBe(false);
  });
});
