// Is the shipped base what a base must be: better than chance, far from finished, and not only on the puzzles that
// want nothing? The held-out puzzles of the quickstart at its temperature, with the page as text; in Chromium the
// same puzzles give the same figure (docs/decisions/2026-11-29-nano.md).

import { beforeAll, describe, expect, it } from 'vitest';
import { openModel, samplerOf } from '../../src/cli/models.ts';
import { createPuzzle, type Puzzle } from '../../src/envs/click-checkboxes/puzzle.ts';
import { EVAL_FIRST_SEED } from '../../src/experiments/quickstart-config.ts';
import type { Sampler } from '../../src/core/index.ts';
import { createNanoRenderer } from '../../src/tokens/index.ts';

const EPISODES = 200;
const MAX_ACTIONS = 10;
const renderer = createNanoRenderer();

/** Whether the policy solves a puzzle exactly, its page rendered here instead of in a browser. */
async function solves(sampler: Sampler, seed: number): Promise<boolean> {
  const { labels, wanted, instruction } = createPuzzle(seed);
  const checked = labels.map(() => false);
  for (let turn = 0; turn < MAX_ACTIONS; turn++) {
    const lines = labels.map((label, i) => `checkbox "${label}"${checked[i] ? ' [checked]' : ''} [${i + 1}]`);
    const page = [...lines, `button "Submit" [${labels.length + 1}]`].join('\n');
    const prompt = renderer.render({ instruction, tools: [], past: [], observation: { page } });
    const params = {
      maxTokens: renderer.maxActionTokens,
      temperature: 1,
      stop: renderer.stopTokens,
      seed: seed + turn,
    };
    const [reply] = await sampler.sample({ prompt, numSamples: 1, params });
    const action = renderer.parse(reply.tokens);
    const target = action.kind === 'call' ? Number(action.args['target']) : NaN;
    if (target === labels.length + 1) return checked.every((isChecked, i) => isChecked === wanted[i]);
    if (target >= 1 && target <= labels.length) checked[target - 1] = !checked[target - 1];
  }
  return false;
}

describe('the shipped base', () => {
  let results: { readonly puzzle: Puzzle; readonly solved: boolean }[];

  beforeAll(async () => {
    await using model = samplerOf(await openModel('nano'));
    results = await Promise.all(
      Array.from({ length: EPISODES }, async (_, i) => {
        const seed = EVAL_FIRST_SEED + i;
        return { puzzle: createPuzzle(seed), solved: await solves(model.sampler, seed) };
      }),
    );
  }, 120_000);

  const share = (wants: (count: number) => boolean): number => {
    const chosen = results.filter(({ puzzle }) => wants(puzzle.wanted.filter(Boolean).length));
    return chosen.filter(({ solved }) => solved).length / chosen.length;
  };

  it('solves between 5 and 40 % exactly', () => {
    expect(share(() => true)).toBeGreaterThan(0.05);
    expect(share(() => true)).toBeLessThan(0.4);
  });

  it('solves at least 15 % of the puzzles with one wanted box', () => {
    expect(share((count) => count === 1)).toBeGreaterThan(0.15);
  });

  it('leaves something to learn where several are wanted', () => {
    expect(share((count) => count >= 2)).toBeLessThan(0.3);
  });
});
