// Tokens drawn in the graph, against the same draws from the log-probabilities that it gives.

import { describe, expect, it } from 'vitest';
import { createRng } from '../util/index.ts';
import { drawProbability, likeliestToken } from './choose-token.ts';
import { DRAWS, drawingNodes } from './drawing-nodes.ts';
import { Graph } from './graph.ts';
import { Session } from './session.ts';

const rng = createRng('drawing');
const ROWS = 200;

async function run(logits: Float32Array, uniforms: Float64Array): Promise<Record<string, Float32Array>> {
  const rows = uniforms.length;
  const shape = [rows, logits.length / rows];
  const g = new Graph();
  drawingNodes(g, g.input('logits', 'float32', ['B', shape[1]]));
  const session = await Session.compile(g, { threads: 2 });
  try {
    return await session.run({ logits: { data: logits, shape }, uniform: { data: uniforms, shape: [rows, 1] } });
  } finally {
    await session.release();
  }
}

describe('draws in the graph', () => {
  // One block and a part of one, several whole ones, several and a part.
  it.each([50, 128, 512, 700])('are those of the distribution, of %i tokens', async (vocabulary) => {
    const logits = Float32Array.from({ length: ROWS * vocabulary }, () => 8 * rng.next());
    const uniforms = Float64Array.from({ length: ROWS }, () => rng.next());
    const { draws, logprobs } = await run(logits, uniforms);
    for (let row = 0; row < ROWS; row++) {
      const own = logprobs.subarray(row * vocabulary, (row + 1) * vocabulary);
      const [drawn, drawnLogprob, likeliest, likeliestLogprob] = draws.subarray(row * DRAWS.columns);
      const expected = drawProbability(own.map(Math.exp), uniforms[row]);
      expect([drawn, drawnLogprob]).toEqual([expected, own[expected]]);
      expect([likeliest, likeliestLogprob]).toEqual([likeliestToken(own), own[likeliestToken(own)]]);
    }
    expect(new Set(Array.from(uniforms, (_, row) => draws[row * DRAWS.columns])).size).toBeGreaterThan(20);
  });

  it('take the lowest id of the likeliest', async () => {
    const logits = new Float32Array(3 * 300).fill(-1);
    for (const id of [200, 131, 299]) logits[id] = 2; // first line; the others have one height
    const { draws } = await run(logits, new Float64Array(3));
    expect([0, 1, 2].map((row) => draws[row * DRAWS.columns + DRAWS.likeliest])).toEqual([131, 0, 0]);
  });

  it('never take a token without mass, also where rounding makes the unit interval closed', async () => {
    const vocabulary = 300;
    const logits = new Float32Array(4 * vocabulary).fill(-Infinity);
    for (let row = 0; row < 4; row++) for (const id of [3, 140, 150]) logits[row * vocabulary + id] = row;
    const { draws } = await run(logits, Float64Array.of(0, 1, 1 / 3 + 1e-6, 2 / 3 + 1e-6));
    expect([0, 1, 2, 3].map((row) => draws[row * DRAWS.columns])).toEqual([3, 150, 140, 150]);
  });

  it('stay within a block whose sum was rounded up', async () => {
    const logits = Float32Array.from({ length: ROWS * 128 }, (_, i) => (i % 128 < 100 ? rng.next() : -Infinity));
    const { draws } = await run(logits, new Float64Array(ROWS).fill(1));
    for (let row = 0; row < ROWS; row++) expect(draws[row * DRAWS.columns]).toBe(99);
  });
});
