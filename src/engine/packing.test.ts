import { describe, expect, it } from 'vitest';
import { causalMask, packMicroBatches, type PackOptions } from './packing.ts';
import { randomData } from './test-support.ts';

const OPTIONS: PackOptions = { loss: 'cross_entropy', scored: 'all', tokenBudget: 40, vocabSize: 23, maxPositions: 48 };

describe('micro-batches', () => {
  it('hold every row once, stay within the token budget and pad to the longest row of the batch only', () => {
    const data = randomData('rows', [3, 20, 4, 9, 10, 4, 41], 23);
    const batches = packMicroBatches(data, OPTIONS);
    expect(batches.flatMap((batch) => batch.rows).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    for (const batch of batches) {
      expect(batch.time).toBe(Math.max(...batch.rows.map((row) => data[row].tokens.length)));
      if (batch.rows.length > 1) expect(batch.batch * batch.time).toBeLessThanOrEqual(40);
    }
    // 3, 4, 4, 9 fill 36 of 40; 10 and 20 would need 40 together; 41 exceeds the budget and goes alone.
    expect(batches.map((batch) => batch.rows.map((row) => data[row].tokens.length))).toEqual([
      [3, 4, 4, 9],
      [10, 20],
      [41],
    ]);
  });

  it('are cut where that saves more padding than another run costs', () => {
    const data = randomData('two sizes', [...Array<number>(30).fill(10), ...Array<number>(5).fill(45)], 23);
    // Together 35 x 45 = 1575 padded tokens; apart 300 + 225.
    const batches = packMicroBatches(data, { ...OPTIONS, tokenBudget: 4096 });
    expect(batches.map(({ batch, time }) => [batch, time])).toEqual([
      [30, 10],
      [5, 45],
    ]);
  });

  it('score only weighted positions when asked to, and say where each belongs', () => {
    const [row] = randomData('row', [4], 23);
    const weighted = {
      tokens: row.tokens,
      lossInputs: { targetTokens: row.lossInputs.targetTokens, weights: [0, 2, 0, -1] },
    };
    const [batch] = packMicroBatches([weighted], { ...OPTIONS, scored: 'weighted' });
    expect(batch.origin).toEqual([
      { row: 0, position: 1 },
      { row: 0, position: 3 },
    ]);
    expect([...batch.vectors['weights']]).toEqual([2, -1]);
  });

  it('score everything for dro, whose penalty also acts where the advantage is zero', () => {
    const lossInputs = { targetTokens: [1, 2], logprobs: [0, 0], advantages: [0, 1] };
    const [batch] = packMicroBatches([{ tokens: [3, 4], lossInputs }], { ...OPTIONS, loss: 'dro', scored: 'weighted' });
    expect(batch.origin).toHaveLength(2);
  });

  const refused: [string, Parameters<typeof packMicroBatches>[0][number], string][] = [
    ['an empty row', { tokens: [], lossInputs: { targetTokens: [], weights: [] } }, 'empty-datum'],
    [
      'a token outside the vocabulary',
      { tokens: [23], lossInputs: { targetTokens: [1], weights: [1] } },
      'token-out-of-range',
    ],
    ['a fractional token', { tokens: [1.5], lossInputs: { targetTokens: [1], weights: [1] } }, 'token-out-of-range'],
    ['a missing input', { tokens: [1], lossInputs: { targetTokens: [1] } }, 'missing-loss-input'],
    [
      'an input of another loss',
      { tokens: [1], lossInputs: { targetTokens: [1], weights: [1], advantages: [1] } },
      'unknown-loss-input',
    ],
    [
      'an input of another length',
      { tokens: [1, 2], lossInputs: { targetTokens: [1, 2], weights: [1] } },
      'loss-input-length',
    ],
    [
      'a weight that is not a number',
      { tokens: [1], lossInputs: { targetTokens: [1], weights: [NaN] } },
      'loss-input-not-finite',
    ],
    [
      'a row longer than the model',
      {
        tokens: Array<number>(49).fill(1),
        lossInputs: { targetTokens: Array<number>(49).fill(1), weights: Array<number>(49).fill(1) },
      },
      'sequence-too-long',
    ],
  ];
  for (const [what, datum, code] of refused) {
    it(`refuse ${what}`, () => {
      expect(() => packMicroBatches([datum], OPTIONS)).toThrowError(expect.objectContaining({ code }));
    });
  }
});

describe('what the graph reads beside the ids', () => {
  it('the causal mask hides later tokens and repeats for each folded head', () => {
    const visible = Array.from(causalMask(2, 2), (value) => value === 0);
    expect(visible).toEqual([true, false, true, true, true, false, true, true]);
  });
});
