import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LossConfig, LossName } from '../core/index.ts';
import { createGspoLoss, lossValue } from './losses.ts';
import type { PolicyRow } from './rows.ts';

const H = 1e-6;
const logprob = fc.double({ min: -4, max: -0.01, noNaN: true });
const advantage = fc.double({ min: -2, max: 2, noNaN: true });
const tokens = fc.array(fc.record({ lp: logprob, q: logprob, a: advantage }), { minLength: 1, maxLength: 6 });

/** Differences of 1e-6 need more digits than the Float32Array that backends return has. */
const exact = (row: number[]): Float32Array => new Float64Array(row) as unknown as Float32Array;

function atKink(ratio: number, bounds: readonly number[]): boolean {
  return bounds.some((bound) => Math.abs(ratio - bound) < 1e-4);
}

describe('lossValue', () => {
  const cases: readonly [LossName, LossConfig][] = [
    ['cross_entropy', {}],
    ['importance_sampling', {}],
    ['ppo', {}],
    ['ppo', { clipLow: 0.7, clipHigh: 1.28 }],
    ['dro', { beta: 0.2 }],
  ];
  it.each(cases)('%s %o: the derivative is that of the value, by finite differences', (name, config) => {
    fc.assert(
      fc.property(tokens, (list) => {
        const bounds = [config.clipLow ?? 0.8, config.clipHigh ?? 1.2];
        fc.pre(name !== 'ppo' || !list.some(({ lp, q }) => atKink(Math.exp(lp - q), bounds)));
        const samplerLogprobs = list.map(({ q }) => q);
        const advantages = list.map(({ a }) => a);
        const logprobs = list.map(({ lp }) => lp);
        const at = (lps: number[]): number =>
          lossValue(name, { logprobs: lps, samplerLogprobs, advantages }, config).loss;
        const { gradient } = lossValue(name, { logprobs, samplerLogprobs, advantages }, config);
        logprobs.forEach((_, t) => {
          const moved = (h: number): number => at(logprobs.map((lp, i) => (i === t ? lp + h : lp)));
          const numeric = (moved(H) - moved(-H)) / (2 * H);
          expect(Math.abs(gradient[t] - numeric)).toBeLessThan(1e-6 * Math.max(1, Math.abs(numeric)));
        });
      }),
    );
  });

  it('cispo: the derivative is that of the value with its weights held, clipped on one side only', () => {
    const [lp, q, a] = [-0.5, -3, 1.5];
    const { loss, gradient } = lossValue('cispo', { logprobs: [lp], samplerLogprobs: [q], advantages: [a] });
    expect(Math.exp(lp - q)).toBeGreaterThan(4);
    expect(loss).toBeCloseTo(-4 * lp * a, 12);
    expect(gradient[0]).toBeCloseTo(-4 * a, 12);
    const low = lossValue('cispo', { logprobs: [q], samplerLogprobs: [lp], advantages: [a] });
    expect(low.gradient[0]).toBeCloseTo(-Math.exp(q - lp) * a, 12);
  });

  it('cispo from 0 to C has the gradient of truncated importance sampling', () => {
    fc.assert(
      fc.property(tokens, (list) => {
        const terms = {
          logprobs: list.map(({ lp }) => lp),
          samplerLogprobs: list.map(({ q }) => q),
          advantages: list.map(({ a }) => a),
        };
        const { gradient } = lossValue('cispo', terms, { clipLow: 0, clipHigh: 2 });
        list.forEach(({ lp, q, a }, t) => expect(gradient[t]).toBeCloseTo(-Math.min(Math.exp(lp - q), 2) * a, 12));
      }),
    );
  });

  it('on-policy all policy losses have the same gradient: minus the advantage', () => {
    const terms = { logprobs: [-1, -2], samplerLogprobs: [-1, -2], advantages: [0.7, -0.3] };
    for (const name of ['importance_sampling', 'ppo', 'cispo', 'dro'] as const) {
      expect(lossValue(name, terms).gradient).toEqual([-0.7, 0.3]);
    }
  });

  it('ppo stops pushing once the ratio has moved the way the advantage wanted', () => {
    const terms = (lp: number, a: number) => ({ logprobs: [lp], samplerLogprobs: [-1], advantages: [a] });
    expect(lossValue('ppo', terms(-0.5, 1)).gradient[0]).toBe(0);
    expect(lossValue('ppo', terms(-1.5, -1)).gradient[0]).toBe(0);
    expect(lossValue('ppo', terms(-0.5, -1)).gradient[0]).toBeCloseTo(Math.exp(0.5), 12);
  });
});

describe('createGspoLoss', () => {
  it('has the derivative of its value, by finite differences, and none on masked tokens', () => {
    const rows: PolicyRow[] = [
      { tokens: [1, 2, 3], targets: [2, 3, 4], logprobs: [0, -1, -2], advantages: [0, 0.8, 0.8], mask: [0, 1, 1] },
      { tokens: [1, 2], targets: [2, 3], logprobs: [-0.5, -0.6], advantages: [-1, -1], mask: [1, 1] },
    ];
    const loss = createGspoLoss(rows, { clipLow: 0.5, clipHigh: 2 });
    const logprobs = [
      [-9, -1.1, -1.7],
      [-0.4, -0.9],
    ];
    const at = (values: number[][]): number => loss(values.map((row) => exact(row))).loss;
    const { gradients } = loss(logprobs.map((row) => exact(row)));
    logprobs.forEach((row, i) =>
      row.forEach((_, t) => {
        const moved = (h: number): number =>
          at(logprobs.map((r, ri) => r.map((lp, ti) => (ri === i && ti === t ? lp + h : lp))));
        expect(gradients[i][t]).toBeCloseTo((moved(H) - moved(-H)) / (2 * H), 6);
      }),
    );
    expect(gradients[0][0]).toBe(0);
  });

  it('clips whole rows and says how many', () => {
    const rows: PolicyRow[] = [{ tokens: [1], targets: [2], logprobs: [-2], advantages: [1], mask: [1] }];
    const { gradients, metrics } = createGspoLoss(rows)([new Float32Array([-1])]);
    expect(gradients[0]).toEqual([0]);
    expect(metrics?.['gspo/clip_fraction:mean']).toBe(1);
  });
});
