// Facts about click-checkboxes that commands share.

import type { Puzzle } from '../envs/index.ts';
import type { Report } from '../experiments/index.ts';

export function wantedBoxes(puzzle: Puzzle): number {
  return puzzle.wanted.filter(Boolean).length;
}

/**
 * What submitting at once reaches, exactly: n boxes, uniform on 2 to 6, each right with probability 1/2. All n must
 * be right for exact success; more than half of them for a raw reward above 0.
 */
export function blindSubmitBaseline(): Report['baselines'][number] {
  const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k);
  const sizes = [2, 3, 4, 5, 6];
  const mean = (f: (n: number) => number): number => sizes.reduce((sum, n) => sum + f(n), 0) / sizes.length;
  const above = (n: number): number => {
    let ways = 0;
    for (let right = 0; right <= n; right++) if (2 * right > n) ways += choose(n, right);
    return ways / 2 ** n;
  };
  return { title: 'Submit at once', exact: mean((n) => 1 / 2 ** n), lenient: mean(above) };
}
