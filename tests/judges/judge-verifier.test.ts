// A judge as the verifier of an episode in a real browser: it sees the host's log and pictures, its verdict is the outcome
// under its name, and what it cannot say makes the episode invalid.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createScriptedActor } from '../../src/chat/index.ts';
import type { ChatReply, Outcome } from '../../src/core/index.ts';
import { createWebTaskEnv, judgeVerifier } from '../../src/envs/index.ts';
import { createOutcomeJudge, type Judgement } from '../../src/judges/index.ts';
import { FAILURE, modelOf, promptOf, serveJudge, SUCCESS } from '../../src/judges/fixtures/judge-server.ts';
import { createLocalProvider, type SessionProvider } from '../../src/repl/index.ts';
import { runActorEpisodes } from '../../src/rollout/index.ts';
import { servePages, type PageServer } from '../repl/page-server.ts';
import { probe } from '../sandbox/jail.ts';

const { signal } = new AbortController();
let site: PageServer;
let provider: SessionProvider;
beforeAll(async () => {
  site = await servePages();
  const egress = [{ host: '127.0.0.1', port: Number(new URL(site.origin).port) }];
  provider = createLocalProvider({ jail: probe.available ? probe : 'unsafe-local', egress, sessions: 1, episodes: 9 });
}, 120_000);
afterAll(async () => {
  await provider?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
}, 60_000);

const CODE = `// OF-A-COMMENT\nvar secret = 'OF-A-VARIABLE'; await fillInput('#line', 'tea'); repl.write('OF-THE-OUTPUT')`;
const REPLIES: readonly ChatReply[] = [
  { text: '', calls: [{ id: 'a', name: 'browser_repl', arguments: JSON.stringify({ code: CODE }) }] },
  { text: 'I filled it in.', calls: [] },
];

it('decides, is named, and what it cannot say is invalid', { timeout: 240_000 }, async () => {
  const verdicts: unknown[] = [SUCCESS, FAILURE, 'no verdict'];
  await using server = await serveJudge({ outcome_verdict: () => verdicts.shift() });
  const judge = createOutcomeJudge({ model: modelOf(server) });
  const judgements: Judgement[] = [];
  await using env = createWebTaskEnv({
    provider: {
      kind: 'local',
      acquire: (wait) => provider.acquire(wait),
      [Symbol.asyncDispose]: async () => undefined,
    },
    tasks: [{ url: `${site.origin}/fields`, instruction: 'Fill it in.' }],
    capacity: 1,
    verify: judgeVerifier({
      judge,
      criteria: ({ instruction }) => `Criteria for: ${instruction}`,
      onJudgement: (judgement) => judgements.push(judgement),
    }),
  });
  const outcomes: Outcome[] = [];
  for (let member = 0; member < 3; member++) {
    const { trajectories } = await runActorEpisodes([{ task: env.task(0), member }], {
      env,
      actor: createScriptedActor('script', REPLIES),
      runSeed: 1,
      stage: 'eval',
      maxRetries: 0,
      deadlines: { operationMs: 120_000, turnMs: 120_000 },
      signal,
    });
    outcomes.push(trajectories[0].outcome);
  }
  const { id, promptHash, model } = judge;
  expect(outcomes).toMatchObject([
    {
      kind: 'finished',
      success: true,
      reward: 1,
      details: { judge: { id, promptHash, model, kind: 'outcome', calls: 1, cost: null, cached: false } },
    },
    { kind: 'finished', success: false, reward: 0, details: { judge: { unmet: ['it is not sent'] } } },
    { kind: 'invalid', boundary: 'judge', code: 'judge-bad-reply' },
  ]);
  expect(judgements.map(({ verdict }) => verdict)).toEqual(['success', 'failure', 'invalid']);
  const prompt = promptOf(server.asked[0]);
  expect(prompt).toMatch(/\| action \d+: fillInput "textbox" .* text "tea" on "http:.*\/fields"\n/);
  expect(prompt).toContain('Criteria for: Fill it in.');
  expect(prompt).toMatch(/begin quoted claim \w+\]\n\| I filled it in\.\n/);
  expect(prompt).toContain('[picture]');
  for (const own of ['OF-A-COMMENT', 'OF-A-VARIABLE', 'OF-THE-OUTPUT']) expect(prompt).not.toContain(own);
});
