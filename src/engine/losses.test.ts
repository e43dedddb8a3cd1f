// Each loss against its closed form in core/training.ts, value and derivative by the log-probability.

import { describe, expect, it } from 'vitest';
import type { LossName } from '../core/index.ts';
import { gradients } from './autodiff.ts';
import { Graph, type Value } from './graph.ts';
import { LOSS_SCALARS, LOSS_VECTORS, LOSSES_BY_ROW, tokenLoss } from './losses.ts';
import { Session, type Feeds } from './session.ts';

type Row = {
  readonly lp: number;
  readonly q: number;
  readonly a: number;
  readonly row?: number;
  readonly mask?: 0 | 1;
};

async function evaluate(
  loss: LossName,
  rows: readonly Row[],
  settings: Readonly<Record<string, number>> = {},
): Promise<{ value: number[]; slope: number[] }> {
  const g = new Graph();
  const lp = g.input('lp', 'float32', [rows.length]);
  const inputs: Record<string, Value> = {};
  const feeds: Record<string, Feeds[string]> = {
    lp: { data: Float32Array.from(rows, (row) => row.lp), shape: [rows.length] },
  };
  const columns = {
    weights: rows.map((row) => row.a),
    advantages: rows.map((row) => row.a),
    logprobs: rows.map((row) => row.q),
    sequenceRatioMask: rows.map((row) => row.mask ?? 1),
  };
  if (LOSSES_BY_ROW.has(loss)) {
    const rowCount = 1 + Math.max(...rows.map((row) => row.row ?? 0));
    const rowOf = Float32Array.from({ length: rowCount * rows.length }, (_, i) =>
      (rows[i % rows.length].row ?? 0) === Math.floor(i / rows.length) ? 1 : 0,
    );
    inputs['rowOf'] = g.input('rowOf', 'float32', [rowCount, rows.length]);
    feeds['rowOf'] = { data: rowOf, shape: [rowCount, rows.length] };
  }
  for (const name of LOSS_VECTORS[loss]) {
    inputs[name] = g.input(name, 'float32', [rows.length]);
    feeds[name] = { data: Float32Array.from(columns[name]), shape: [rows.length] };
  }
  for (const [name, value] of Object.entries<number>({ ...LOSS_SCALARS[loss], ...settings })) {
    inputs[name] = g.input(name, 'float32', []);
    feeds[name] = { data: Float32Array.of(value), shape: [] };
  }
  const perToken = tokenLoss(g, loss, lp, inputs);
  g.output('value', perToken);
  g.output('slope', gradients(g, perToken, [lp])[0]);
  const session = await Session.compile(g, { threads: 1 });
  const outputs = await session.run(feeds);
  await session.release();
  return { value: [...outputs['value']], slope: [...outputs['slope']] };
}

// Ratio 1, inside the clip, above it, below it; both signs of the advantage.
const RATIOS = [1, 1.1, 1.5, 0.5, 6];
const ROWS: Row[] = RATIOS.flatMap((ratio) => [1.5, -0.7].map((a) => ({ lp: -2 + Math.log(ratio), q: -2, a })));
const ratioOf = (row: Row): number => Math.exp(row.lp - row.q);

function expectClose(found: readonly number[], expected: readonly number[]): void {
  found.forEach((value, i) => expect(value, `row ${i} of ${JSON.stringify(found)}`).toBeCloseTo(expected[i], 4));
}

describe('losses have their closed form', () => {
  it('cross_entropy is minus weight times log-probability, negative weights included', async () => {
    const { value, slope } = await evaluate('cross_entropy', ROWS);
    expectClose(
      value,
      ROWS.map(({ lp, a }) => -a * lp),
    );
    expectClose(
      slope,
      ROWS.map(({ a }) => -a),
    );
  });

  it('importance_sampling differentiates through the ratio', async () => {
    const { value, slope } = await evaluate('importance_sampling', ROWS);
    expectClose(
      value,
      ROWS.map((row) => -ratioOf(row) * row.a),
    );
    expectClose(
      slope,
      ROWS.map((row) => -ratioOf(row) * row.a),
    );
  });

  it('ppo takes the smaller of plain and clipped, and has no gradient where the clip holds', async () => {
    const { value, slope } = await evaluate('ppo', ROWS);
    const clipped = (row: Row): number => Math.min(Math.max(ratioOf(row), 0.8), 1.2);
    expectClose(
      value,
      ROWS.map((row) => -Math.min(ratioOf(row) * row.a, clipped(row) * row.a)),
    );
    const held = (row: Row): boolean => (row.a > 0 ? ratioOf(row) > 1.2 : ratioOf(row) < 0.8);
    expectClose(
      slope,
      ROWS.map((row) => (held(row) ? 0 : -ratioOf(row) * row.a)),
    );
  });

  it('ppo takes its bounds as absolute ratios', async () => {
    const { slope } = await evaluate('ppo', ROWS, { clipLow: 0.4, clipHigh: 7 });
    expectClose(
      slope,
      ROWS.map((row) => -ratioOf(row) * row.a),
    );
  });

  it('cispo weights the log-probability by a clipped ratio that is held constant', async () => {
    const { value, slope } = await evaluate('cispo', ROWS);
    const weight = (row: Row): number => Math.min(ratioOf(row), 4);
    expectClose(
      value,
      ROWS.map((row) => -weight(row) * row.lp * row.a),
    );
    expectClose(
      slope,
      ROWS.map((row) => -weight(row) * row.a),
    );
  });

  it('dro pulls the log-probability back to the sampler even where the advantage is zero', async () => {
    const rows = [...ROWS, { lp: -1, q: -2, a: 0 }];
    const { value, slope } = await evaluate('dro', rows, { beta: 0.3 });
    expectClose(
      value,
      rows.map(({ lp, q, a }) => -(lp * a - 0.15 * (lp - q) ** 2)),
    );
    expectClose(
      slope,
      rows.map(({ lp, q, a }) => -a + 0.3 * (lp - q)),
    );
  });

  it('gspo weighs a whole row by the geometric mean of its ratios, and clips rows', async () => {
    // Rows of ratio inside the bounds, above and below them, with both signs; one position of each is not counted.
    const ratios = [1.0002, 1.0002, 1.2, 1.2, 0.7, 0.7];
    const rows = ratios.flatMap((ratio, row) => {
      const a = row % 2 === 0 ? 1.5 : -0.7;
      const at = (shift: number): Row => ({ lp: -2 + Math.log(ratio) + shift, q: -2, a, row, mask: 1 });
      return [at(0.3), at(-0.2), at(-0.1), { lp: -1, q: 0, a: 0, row, mask: 0 } as const];
    });
    const { value, slope } = await evaluate('gspo', rows);
    const clip = (s: number): number => Math.min(Math.max(s, 1 - 3e-4), 1 + 4e-4);
    const advantage = (row: number): number => (row % 2 === 0 ? 1.5 : -0.7);
    expectClose(
      value,
      ratios.map((s, row) => -Math.min(s * advantage(row), clip(s) * advantage(row))),
    );
    const held = (s: number, row: number): boolean => (row % 2 === 0 ? s > 1 + 4e-4 : s < 1 - 3e-4);
    expectClose(
      slope,
      rows.map(({ mask }, i) => {
        const row = Math.floor(i / 4);
        return mask === 0 || held(ratios[row], row) ? 0 : (-advantage(row) * ratios[row]) / 3;
      }),
    );
  });

  it('all policy-gradient losses of tokens the same slope at ratio one', async () => {
    const rows = ROWS.map((row) => ({ ...row, lp: row.q }));
    const expected = rows.map(({ a }) => -a);
    for (const loss of ['importance_sampling', 'ppo', 'cispo', 'dro'] as const)
      expectClose((await evaluate(loss, rows)).slope, expected);
  });
});
