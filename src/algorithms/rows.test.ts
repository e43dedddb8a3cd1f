import { describe, expect, it } from 'vitest';
import { aggregate } from './aggregation.ts';
import { countActionTokens, policyDatum, trajectoryToRows } from './rows.ts';

const turn = (promptTokens: number[], actionTokens: number[], logprobs: number[]) => ({
  promptTokens,
  actionTokens,
  logprobs,
});

describe('trajectoryToRows', () => {
  it('keeps one row while prompts extend the sequence, shifted by one, with zeros on what was not sampled', () => {
    const rows = trajectoryToRows([turn([1, 2], [3, 4], [-0.3, -0.4]), turn([1, 2, 3, 4, 5], [6], [-0.6])], 2);
    expect(rows).toEqual([
      {
        tokens: [1, 2, 3, 4, 5],
        targets: [2, 3, 4, 5, 6],
        logprobs: [0, -0.3, -0.4, 0, -0.6],
        advantages: [0, 2, 2, 0, 2],
        mask: [0, 1, 1, 0, 1],
      },
    ]);
  });

  it('starts a row wherever a prompt rewrites the past', () => {
    const rows = trajectoryToRows([turn([1, 2], [3], [-1]), turn([1, 9], [4], [-2])], 1);
    expect(rows.map((row) => row.targets)).toEqual([
      [2, 3],
      [9, 4],
    ]);
    expect(countActionTokens(rows)).toBe(2);
  });

  it('gives nothing for an episode without turns', () => {
    expect(trajectoryToRows([], 1)).toEqual([]);
  });

  it('hands the row over as a datum without the mask', () => {
    const [row] = trajectoryToRows([turn([1], [2], [-0.5])], -1);
    expect(policyDatum(row)).toEqual({
      tokens: [1],
      lossInputs: { targetTokens: [2], logprobs: [-0.5], advantages: [-1] },
    });
  });
});

describe('aggregate', () => {
  // A habit token that is in every turn: a success of 2 turns and a failure of 10, advantages +1 and -1.
  const rows = [
    ...trajectoryToRows([turn([0], [1, 1], [0, 0])], 1),
    ...trajectoryToRows([turn([0], Array<number>(10).fill(1), Array<number>(10).fill(0))], -1),
  ];
  const push = (scaled: typeof rows): number => scaled.flatMap((row) => row.advantages).reduce((a, b) => a + b, 0);

  it('under sequence_mean the long failure does not press the habit down at all', () => {
    expect(push([...aggregate(rows, 'sequence_mean')])).toBeCloseTo(0, 12);
  });

  it('under token_mean it does, by the difference of the lengths', () => {
    expect(push([...aggregate(rows, 'token_mean')])).toBeCloseTo(-8 / 12, 12);
    expect(push([...aggregate(rows, 'sum')])).toBe(-8);
  });
});
