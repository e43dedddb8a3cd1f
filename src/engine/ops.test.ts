import { describe, expect, it } from 'vitest';
import { attention } from './attention.ts';
import * as ops from './ops.ts';
import { gradientError, randomMatrix, type OpCheck } from './test-support.ts';

const x = randomMatrix('x', [3, 4]);
const w = randomMatrix('w', [5, 4]);
const cube = randomMatrix('cube', [2, 3, 4]);

const CHECKS: Record<string, OpCheck> = {
  linear: { inputs: { x, w }, build: (g, v) => ops.linear(g, v('x'), [v('w')])[0] },
  'linear with a residual': {
    inputs: { x, w, r: randomMatrix('r', [3, 5]) },
    build: (g, v) => ops.linear(g, v('x'), [v('w')], [v('r')])[0],
  },
  'linear with several matrices, of which one with a residual and one left unused': {
    inputs: { x, w, u: randomMatrix('u', [5, 4]), r: randomMatrix('r', [3, 5]) },
    build: (g, v) => {
      const [a, b] = ops.linear(g, v('x'), [v('w'), v('u'), v('w')], [undefined, v('r')]);
      return ops.mul(g, a, b);
    },
  },
  matmul: {
    inputs: { a: cube, b: randomMatrix('b', [2, 4, 5]) },
    build: (g, v) => ops.matmul(g, v('a'), v('b'), { scale: 0.7 }),
  },
  'matmul with the second transposed': {
    inputs: { a: cube, b: randomMatrix('b', [2, 5, 4]) },
    build: (g, v) => ops.matmul(g, v('a'), v('b'), { transB: true, scale: 0.7 }),
  },
  'matmul with the first transposed': {
    inputs: { a: cube, b: randomMatrix('b', [2, 3, 5]) },
    build: (g, v) => ops.matmul(g, v('a'), v('b'), { transA: true }),
  },
  'matmul with both transposed': {
    inputs: { a: cube, b: randomMatrix('b', [2, 5, 3]) },
    build: (g, v) => ops.matmul(g, v('a'), v('b'), { transA: true, transB: true }),
  },
  rmsNorm: { inputs: { x, w: randomMatrix('norm', [4]) }, build: (g, v) => ops.rmsNorm(g, v('x'), v('w'), 1e-5) },
  rope: {
    inputs: { x: randomMatrix('rotated', [2, 2, 3, 4]) },
    build: (g, v) => {
      const angles = randomMatrix('angles', [8, 2]).data;
      const cos = g.table('cos', [8, 2], angles.map(Math.cos));
      const sin = g.table('sin', [8, 2], angles.map(Math.sin));
      return ops.rope(g, v('x'), { positions: g.constant('int64', [1], [2]), cos, sin });
    },
  },
  attention: {
    inputs: {
      q: randomMatrix('q', [2, 2, 3, 4]),
      k: randomMatrix('k', [2, 2, 5, 4]),
      v: randomMatrix('v', [2, 2, 5, 4]),
    },
    build: (g, v) => {
      const mask = g.constant('float32', [3, 5], [0, -1, -1e9, 0, 0, 0, 0, -1e9, 0, 0.5, 0, 0, 0, 0, 0]);
      return attention(g, { q: v('q'), k: v('k'), v: v('v'), mask, scale: 2 });
    },
  },
  swiglu: { inputs: { x, up: randomMatrix('up', [3, 4]) }, build: (g, v) => ops.swiglu(g, v('x'), v('up')) },
  'embedding, with an id that occurs twice': {
    inputs: { table: randomMatrix('table', [6, 4]) },
    integers: { ids: [2, 0, 2, 5] },
    build: (g, v) => ops.embedding(g, v('table'), v('ids'), 4),
  },
  gatherRows: {
    inputs: { x: randomMatrix('rows', [5, 4]) },
    integers: { index: [3, 0] },
    build: (g, v) => ops.gatherRows(g, v('x'), v('index')),
  },
  targetLogprobs: {
    inputs: { x },
    integers: { targets: [3, 0, 1] },
    build: (g, v) => ops.targetLogprobs(g, v('x'), v('targets')),
  },
  reshape: { inputs: { x }, build: (g, v) => ops.reshape(g, v('x'), [2, 6]) },
  transpose: { inputs: { x: cube }, build: (g, v) => ops.transpose(g, v('x'), [2, 0, 1]) },
  shiftTime: { inputs: { x: cube }, build: (g, v) => ops.shiftTime(g, v('x'), 2) },
  'split, with a part left unused': { inputs: { x: cube }, build: (g, v) => ops.split(g, v('x'), 1, [1, 2])[1] },
  concat: {
    inputs: { a: cube, b: randomMatrix('b', [2, 2, 4]) },
    build: (g, v) => ops.concat(g, [v('a'), v('b')], 1, 5),
  },
  'add with broadcasting': {
    inputs: { a: cube, b: randomMatrix('b', [3, 1]) },
    build: (g, v) => ops.add(g, v('a'), v('b')),
  },
  'sub with broadcasting': { inputs: { a: x, b: cube }, build: (g, v) => ops.sub(g, v('a'), v('b')) },
  'mul with broadcasting': {
    inputs: { a: cube, b: randomMatrix('b', [4]) },
    build: (g, v) => ops.mul(g, v('a'), v('b')),
  },
  minimum: {
    inputs: { a: randomMatrix('a', [3, 4], 0.1), b: randomMatrix('zero', [3, 4], 0.05) },
    build: (g, v) => ops.minimum(g, v('a'), ops.mul(g, v('b'), g.scalar(0.02))),
  },
  exp: { inputs: { x }, build: (g, v) => ops.exp(g, v('x')) },
  clip: {
    inputs: { x: randomMatrix('clipped', [3, 4], 0.1) },
    build: (g, v) => ops.clip(g, v('x'), g.scalar(-0.05), g.scalar(2)),
  },
  'a value used twice': { inputs: { x }, build: (g, v) => ops.mul(g, ops.exp(g, v('x')), v('x')) },
};

describe('the gradient of each operation agrees with central differences', () => {
  for (const [name, check] of Object.entries(CHECKS)) {
    it(name, async () => {
      expect(await gradientError(check)).toBeLessThan(5e-4);
    });
  }

  it('a stopped gradient is treated as a constant', async () => {
    // d/dx of stop(x) x is stop(x), not 2x, which the differences would give: the error is the missing half.
    const error = await gradientError({
      inputs: { x },
      build: (g, v) => ops.mul(g, ops.stopGradient(g, v('x')), v('x')),
    });
    expect(error).toBeGreaterThan(0.5);
  });
});
