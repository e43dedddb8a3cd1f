// What a client remembers of news that nobody waits for: requests that were given up, and those that a server tells twice.
// A sampler lives as long as a run, so that none of it may stay.

import { expect, it } from 'vitest';
import { Caller } from '../../src/tinker/client/caller.ts';
import { Completions } from '../../src/tinker/client/completions.ts';
import { DEFAULT_PACING } from '../../src/tinker/client/pacing.ts';
import { Transport } from '../../src/tinker/client/transport.ts';
import { DEFAULT_LIMITS } from '../../src/tinker/wire/index.ts';
import { QUICK, scripted } from './scripted-server.ts';

it('news of requests that were given up, and news told twice, are forgotten', { timeout: 60_000 }, async () => {
  const ended: string[] = [];
  await using server = await scripted({
    retrieve_futures: async ({ body }) => {
      const from = body['prev_cursor'] as number;
      await expect.poll(() => ended.length).toBeGreaterThan(from);
      const completions = ended.slice(from).map((request_id) => ({ state: 'finished', request_id }));
      return { json: { completions, cursor: ended.length } };
    },
  });
  const transport = new Transport({
    baseUrl: server.url,
    apiKey: 'tml-test',
    maxReplyBytes: 2 ** 20,
    userAgent: 'test',
  });
  const pacing = { ...DEFAULT_PACING, ...QUICK };
  const caller = new Caller({ transport, pacing, limits: DEFAULT_LIMITS, onNotice: () => undefined });
  const completions = new Completions({ caller, samplerId: 's', client: 0 });
  const never = new AbortController().signal;

  // As a busy run has it: some request is always under way, so that news may always be of one whose id is still to come.
  let slow = completions.begin();
  for (let round = 0; round < 20; round++) {
    const next = completions.begin();
    const given = new AbortController();
    const lost = completions.wait(`lost ${round}`, completions.begin(), given.signal);
    given.abort();
    await expect(lost).rejects.toMatchObject({ name: 'AbortError' });
    const unsent = completions.begin();
    completions.end(unsent);
    const waited = completions.wait(`slow ${round}`, slow, never);
    ended.push(`lost ${round}`, `unsent ${round}`, `slow ${round}`, `slow ${round}`);
    await waited;
    slow = next;
  }
  expect(completions.unclaimed).toBeLessThanOrEqual(6);
  // News that comes before its request's id is kept for it.
  ended.push('early', 'slow 20');
  const early = completions.begin();
  await completions.wait('slow 20', slow, never);
  await completions.wait('early', early, never);
  expect(completions.unclaimed).toBe(0);
});
