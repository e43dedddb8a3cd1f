// Every task's oracle ends its episode with success through the tools that an agent has, and doing nothing never does.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMiniwobSuite, measureEpisode, MINIWOB_TASKS, type MiniwobSuite } from '../../src/envs/index.ts';
import { miniwobPages } from './miniwob-pages.ts';

const pages = await miniwobPages();
const missing = 'missing' in pages ? pages.missing : undefined;
const { signal } = new AbortController();
const PAGES = 4;
/** A cube with momentum and a market that ticks: on a machine that is busy they move otherwise while the oracle looks. */
const REAL_TIME: ReadonlySet<string> = new Set(['drag-cube', 'stock-market']);

test.skipIf(missing === undefined)(`the pages are here (${missing ?? ''})`, () => undefined);

describe.skipIf(missing !== undefined)('oracles', () => {
  let suite: MiniwobSuite;
  beforeAll(async () => {
    if ('content' in pages) suite = await createMiniwobSuite({ content: pages.content, pages: PAGES });
  });
  afterAll(() => suite?.[Symbol.asyncDispose]());

  const failures = async (policy: 'oracle' | 'noop', seed: number): Promise<readonly string[]> => {
    const waiting = MINIWOB_TASKS.map(({ name }) => name);
    const failed: string[] = [];
    const worker = async (): Promise<void> => {
      for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
        const episode = await measureEpisode({ suite, task, policy, seed, signal });
        if (!episode.success) failed.push(task);
      }
    };
    await Promise.all(Array.from({ length: PAGES }, worker));
    return failed.sort();
  };

  // Seed 4 is none of the few in which click-pie asks for the slice that is chosen already, which no click answers.
  test('the oracle of every task succeeds', async () => {
    const failed = await failures('oracle', 4);
    expect(failed.filter((task) => !REAL_TIME.has(task))).toEqual([]);
  }, 600_000);

  test('doing nothing succeeds in no task', async () => {
    expect(await failures('noop', 4)).toHaveLength(MINIWOB_TASKS.length);
  }, 300_000);
});
