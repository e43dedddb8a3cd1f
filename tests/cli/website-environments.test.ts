// A judge in the place of a suite's own grader: what the site says of itself is heard first, and kept beside the verdict.
// Where browsers come in is tested with the command line.

import { expect, test } from 'vitest';
import { serveChat } from '../../src/chat/fixtures/chat-server.ts';
import { TabwrightError } from '../../src/core/index.ts';
import type { EpisodeEnd, Verifier } from '../../src/envs/index.ts';
import { openJudge } from '../../src/cli/judge-option.ts';
import { graded } from '../../src/cli/website-environments.ts';

const { signal } = new AbortController();
const END = {
  task: { id: 'forms/a', env: 'forms', instruction: 'Send the form.', seed: 0, startUrl: 'http://a.test/' },
  stop: 'answered',
  answer: 'It is sent.',
  actions: [],
  pictures: [],
  session: { log: undefined },
} as unknown as EpisodeEnd;

async function judgedBy(own: Verifier) {
  const server = await serveChat(() => ({
    content: JSON.stringify({ reasoning: 'The answer says so.', unmet: [], verdict: 'success' }),
  }));
  const judge = await openJudge({ reward: 'outcome', judgeModel: 'm', judgeBaseUrl: server.url });
  const { begin } = graded({
    verify: undefined,
    judge,
    begin: () =>
      Promise.resolve({
        startUrl: 'http://a.test/',
        verify: own,
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
  });
  const { verify: begun } = await begin!('a', { signal, session: END.session });
  return { server, verify: begun! };
}

test('the verdict of the suite’s own grader is kept beside the judge’s, which counts', async () => {
  const own: Verifier = () => Promise.resolve({ success: false, reward: -1, details: {} });
  const { server, verify } = await judgedBy(own);
  await using _ = server;
  expect(await verify(END, { signal })).toMatchObject({
    success: true,
    reward: 1,
    details: { byCode: { success: false, reward: -1 }, judge: { kind: 'outcome', calls: 1 } },
  });
});

test('a fault of the site is the site’s: it is thrown, and no judge is asked', async () => {
  const own: Verifier = () => Promise.reject(new TabwrightError('env', 'the site failed', { code: 'site-failed' }));
  const { server, verify } = await judgedBy(own);
  await using _ = server;
  await expect(verify(END, { signal })).rejects.toMatchObject({ boundary: 'env', code: 'site-failed' });
  expect(server.asked).toEqual([]);
});
