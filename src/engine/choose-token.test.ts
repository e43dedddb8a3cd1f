import { describe, expect, it } from 'vitest';
import { createRng } from '../util/index.ts';
import { chooseToken } from './choose-token.ts';

const LOGITS = Float32Array.from([0.5, 0.3, 0.15, 0.05], Math.log);
const PLAIN = { temperature: 1, topP: 1, topK: -1 };

function frequencies(truncation: typeof PLAIN, draws = 40_000): number[] {
  const rng = createRng('draws');
  const counts = new Array<number>(LOGITS.length).fill(0);
  for (let i = 0; i < draws; i++) counts[chooseToken(LOGITS, truncation, rng.next()).token] += 1 / draws;
  return counts;
}

describe('choosing a token', () => {
  // 40,000 draws: standard error at most 0.0025.
  const cases: [string, typeof PLAIN, number[]][] = [
    ['follows the distribution', PLAIN, [0.5, 0.3, 0.15, 0.05]],
    [
      'sharpens with temperature 1/2 to the squares',
      { ...PLAIN, temperature: 0.5 },
      [0.25, 0.09, 0.0225, 0.0025].map((p) => p / 0.365),
    ],
    ['keeps the k likeliest', { ...PLAIN, topK: 2 }, [0.625, 0.375, 0, 0]],
    ['keeps the smallest set that reaches top-p', { ...PLAIN, topP: 0.75 }, [0.625, 0.375, 0, 0]],
    ['keeps one token at least, however small top-p is', { ...PLAIN, topP: 1e-6 }, [1, 0, 0, 0]],
    ['applies top-p to what top-k left', { ...PLAIN, topK: 3, topP: 0.6 }, [0.625, 0.375, 0, 0]],
  ];
  for (const [what, truncation, expected] of cases) {
    it(what, () => {
      frequencies(truncation).forEach((frequency, token) => expect(frequency).toBeCloseTo(expected[token], 2));
    });
  }

  it('takes the largest logit at temperature zero, the lower id on a tie', () => {
    expect(chooseToken(Float32Array.of(1, 3, 3), { ...PLAIN, temperature: 0 }, 0.99).token).toBe(1);
  });

  it('reports the log-probability before temperature and truncation', () => {
    for (const truncation of [
      PLAIN,
      { ...PLAIN, temperature: 0.3 },
      { ...PLAIN, topK: 1 },
      { ...PLAIN, temperature: 0 },
    ]) {
      expect(chooseToken(LOGITS, truncation, 0).logprob).toBeCloseTo(Math.log(0.5), 6);
    }
  });

  it('never picks a token without mass, even at the very end of the interval', () => {
    expect(chooseToken(Float32Array.of(0, -Infinity), PLAIN, 1 - 2 ** -32).token).toBe(0);
  });
});
