// The same environment, whichever browser drives it and however: observations, notices, facts, rewards, outcomes.

import { expect, test } from 'vitest';
import type { Action, StepResult } from '../../src/core/index.ts';
import { createClickCheckboxesEnv, createPuzzle, oracleTarget, randomTarget } from '../../src/envs/index.ts';
import { createRng, type Rng } from '../../src/util/index.ts';
import { browsersUnderTest, NEVER } from './browsers-under-test.ts';

const call = (target: number): Action => ({ kind: 'call', tool: 'click', args: { target } });
type Choose = (page: string, seed: number, rng: Rng) => Action;

const POLICIES: Record<string, Choose> = {
  oracle: (page, seed) => call(oracleTarget(createPuzzle(seed), page)),
  random: (page, _seed, rng) => call(randomTarget(page, rng)),
  clumsy: (page, _seed, rng) =>
    rng.pick<Action>([
      call(randomTarget(page, rng)),
      call(99),
      { kind: 'call', tool: 'type', args: {} },
      { kind: 'malformed', problem: 'no call found', text: '?' },
    ]),
};

/** Everything that an agent and its trainer learn from `seeds` played by each policy, four pages at a time. */
async function play(launch: object, seeds: readonly number[]): Promise<Record<string, unknown[]>> {
  await using env = await createClickCheckboxesEnv({ browser: launch, pages: 4 });
  const episode = async (choose: Choose, seed: number): Promise<unknown> => {
    const rng = createRng('modes', seed);
    await using open = await env.open(env.task(seed), { signal: NEVER });
    const steps: (StepResult & { action: Action })[] = [];
    for (let page = open.first.page; steps.at(-1)?.outcome === undefined; page = steps.at(-1)!.observation.page) {
      const action = choose(page, seed, rng);
      steps.push({ action, ...(await open.step(action, { signal: NEVER })) });
    }
    return { first: open.first, steps };
  };
  const results: Record<string, unknown[]> = {};
  for (const [name, choose] of Object.entries(POLICIES)) {
    results[name] = await Promise.all(seeds.map((seed) => episode(choose, seed)));
  }
  return results;
}

test('every mode gives the same observations, notices, facts and outcomes; the oracle is always right', async () => {
  const seeds = Array.from({ length: 12 }, (_, seed) => seed);
  const played: [string, Record<string, unknown[]>][] = [];
  for (const { name, launch } of await browsersUnderTest()) played.push([name, await play(launch, seeds)]);

  const [[, reference], ...others] = played as [(typeof played)[0], ...typeof played];
  expect(others.length).toBeGreaterThan(0);
  for (const [name, results] of others) expect(results, name).toEqual(reference);
  const outcomes = (reference.oracle as { steps: StepResult[] }[]).map(({ steps }) => steps.at(-1)!.outcome);
  expect(outcomes.every((outcome) => outcome?.success && outcome.reward === 1)).toBe(true);
}, 120_000);
