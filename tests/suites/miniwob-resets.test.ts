// Page reuse: a problem started in a page that was used is the problem started in a fresh one. Every task whose row says
// `reuse` is looked at after clicks, words and drags in its page; those that say `reload` are not worth a look.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMiniwobSuite, MINIWOB_TASKS, type MiniwobSuite } from '../../src/envs/index.ts';
import { miniwobPages } from './miniwob-pages.ts';
import { leaveTraces, lookAt, type Look } from './reset-looks.ts';

const pages = await miniwobPages();
const missing = 'missing' in pages ? pages.missing : undefined;
const at = { signal: new AbortController().signal };

test.skipIf(missing === undefined)(`the pages are here (${missing ?? ''})`, () => undefined);

describe.skipIf(missing !== undefined)('resets', () => {
  let used: MiniwobSuite;
  let fresh: MiniwobSuite;
  beforeAll(async () => {
    if (!('content' in pages)) return;
    const { content } = pages;
    // One page each, so that it is known which page an episode has.
    used = await createMiniwobSuite({ content, pages: 1 });
    fresh = await createMiniwobSuite({ content, pages: 1, reset: 'reload' });
  });
  afterAll(async () => {
    await used?.[Symbol.asyncDispose]();
    await fresh?.[Symbol.asyncDispose]();
  });

  const look = async (suite: MiniwobSuite, task: string, seed: number): Promise<Look> => {
    const env = suite.env([task]);
    await using episode = await env.open(env.task(seed), at);
    return lookAt(episode);
  };

  test('a used page cannot be told from a fresh one where the row says so', async () => {
    const reused = MINIWOB_TASKS.filter(({ reset }) => reset === 'reuse').map(({ name }) => name);
    expect(reused.length).toBeGreaterThan(90);
    for (const task of reused) {
      const env = used.env([task]);
      {
        await using episode = await env.open(env.task(100), at);
        await leaveTraces(episode);
      }
      expect(await look(used, task, 1), task).toEqual(await look(fresh, task, 1));
    }
  }, 600_000);

  test('such traces would be found: a calendar that was left open shows in a page that is reused', async () => {
    // The row of choose-date says `reload`; its page, kept, is another after an episode.
    const env = fresh.env(['choose-date']);
    let before: Look;
    {
      await using episode = await env.open(env.task(1), at);
      before = await lookAt(episode);
      await leaveTraces(episode);
      expect(await lookAt(episode)).not.toEqual({ ...before });
    }
    expect(await look(fresh, 'choose-date', 1)).toEqual(before);
  });
});
