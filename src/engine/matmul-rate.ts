// The machine's own speed at what training is made of: one fp32 matrix product on the same runtime and threads. The
// denominator of every rate that the benchmarks report.

import { Graph } from './graph.ts';
import { matmul } from './ops.ts';
import { Session, type SessionOptions } from './session.ts';

const SIZE = 1024;
const RUNS = 15;

/** Median GFLOP/s of a 1024 x 1024 x 1024 product. */
export async function measureMatmulRate(options: SessionOptions = {}): Promise<number> {
  const g = new Graph();
  const a = g.input('a', 'float32', [SIZE, SIZE]);
  const b = g.input('b', 'float32', [SIZE, SIZE]);
  // One number out: handing the product back to JavaScript would be timed too.
  g.output(
    'sum',
    g.node1('ReduceSum', [matmul(g, a, b)], { type: 'float32', shape: [1, 1] }, { attributes: { keepdims: 1 } }),
  );
  const session = await Session.compile(g, options);
  const data = Float32Array.from({ length: SIZE * SIZE }, (_, i) => Math.sin(i));
  const feeds = { a: { data, shape: [SIZE, SIZE] }, b: { data, shape: [SIZE, SIZE] } };
  const seconds: number[] = [];
  for (let i = 0; i < RUNS + 3; i++) {
    const start = performance.now();
    await session.run(feeds);
    if (i >= 3) seconds.push((performance.now() - start) / 1000);
  }
  await session.release();
  return (2 * SIZE ** 3) / seconds.sort((x, y) => x - y)[Math.floor(RUNS / 2)] / 1e9;
}
