import { expect, it } from 'vitest';
import { sampleSeed } from './sample-seed.ts';

it('depends on every part and on nothing else', () => {
  const parts = { runSeed: 1, stage: 'grpo', step: 2, taskId: 'toy/3', member: 4, turn: 5 };
  const others = [{ runSeed: 2 }, { stage: 'eval' }, { step: 3 }, { taskId: 'toy/4' }, { member: 5 }, { turn: 6 }];
  const seeds = [parts, ...others.map((other) => ({ ...parts, ...other }))].map(sampleSeed);
  expect(new Set(seeds).size).toBe(seeds.length);
  expect(sampleSeed({ ...parts })).toBe(seeds[0]);
});
