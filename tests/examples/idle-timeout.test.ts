// Idle browsers of `tabwright browsers serve` end; one whose episode thinks for longer than that does not, because of
// heartbeats. The same episode without them loses its browser: the test could not pass if nobody were timed out.

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScriptedActor } from '../../src/chat/index.ts';
import type { Actor, ChatRecord, Outcome } from '../../src/core/index.ts';
import { createWebTaskEnv } from '../../src/envs/index.ts';
import { createKernelClient, createKernelProvider } from '../../src/repl/index.ts';
import { DEFAULT_DEADLINES, runActorEpisodes } from '../../src/rollout/index.ts';
import { servePages, type PageServer } from '../repl/page-server.ts';
import { noJail, whyNot } from '../sandbox/jail.ts';
import { serveByCli, type ServingCli } from '../servers/serving-cli.ts';

/** The least that Kernel takes. */
const IDLE_SECONDS = 10;
const POOL = 'short-idle';
const OFF = 86_400_000;
const { signal } = new AbortController();

let browsers: ServingCli;
let pages: PageServer;
beforeAll(async () => {
  if (noJail) return;
  pages = await servePages();
  browsers = await serveByCli(['--port', '0', '--max-browsers', '1', '--allow', new URL(pages.origin).host]);
}, 300_000);
afterAll(async () => {
  await browsers?.[Symbol.asyncDispose]();
  await pages?.[Symbol.asyncDispose]();
}, 120_000);

/** Opens a page in one cell, thinks for three idle times, and reads it in the next. */
function thinker(): Actor<ChatRecord> {
  const call = (id: string, code: string) => ({
    text: '',
    calls: [{ id, name: 'browser_repl', arguments: JSON.stringify({ code }) }],
  });
  const script = createScriptedActor('thinker', [
    call('1', 'globalThis.before = (await pageInfo()).title;'),
    call('2', 'repl.write([before, (await pageInfo()).title].join(" and "));'),
    { text: 'done', calls: [] },
  ]);
  let replies = 0;
  return {
    ...script,
    async act(...given) {
      if (++replies === 2) await pause(3 * IDLE_SECONDS * 1000);
      return script.act(...given);
    },
  };
}

async function episode(heartbeatMs: number): Promise<{ readonly outcome: Outcome; readonly seen: string }> {
  const client = createKernelClient({ apiKey: 'none', baseUrl: browsers.url });
  await using env = createWebTaskEnv({
    provider: createKernelProvider({ client, pool: POOL, heartbeatMs }),
    tasks: [{ id: 'read', url: `${pages.origin}/plain`, instruction: 'Read.' }],
    capacity: 1,
    acquireMs: 240_000,
    verify: () => Promise.resolve({ success: true, reward: 1, details: {} }),
  });
  const { trajectories } = await runActorEpisodes([{ task: env.task(0), member: 0 }], {
    env,
    actor: thinker(),
    runSeed: 1,
    stage: 'eval',
    deadlines: { ...DEFAULT_DEADLINES, openMs: 300_000, operationMs: 200_000, turnMs: 240_000, episodeMs: 600_000 },
    maxRetries: 0,
    screenshots: { wants: () => false, prefix: 'eval', save: () => Promise.resolve() },
    listener: () => undefined,
    signal,
  });
  return { outcome: trajectories[0].outcome, seen: JSON.stringify(trajectories[0].turns) };
}

describe.skipIf(noJail)(`a model that thinks longer than a browser may stand idle${whyNot}`, () => {
  it('keeps its browser by heartbeats, and loses it without', { timeout: 900_000 }, async () => {
    const client = createKernelClient({ apiKey: 'none', baseUrl: browsers.url });
    await client.browserPools.create({ name: POOL, size: 1, headless: true, timeout_seconds: IDLE_SECONDS });
    const kept = await episode(2_000);
    expect(kept.outcome).toMatchObject({ kind: 'finished', success: true, stop: 'answered' });
    expect(kept.seen).toMatch(/(\w+) and \1/);
    const lost = await episode(OFF);
    expect(lost.outcome).toMatchObject({ kind: 'invalid', boundary: 'browser', code: 'kernel-cell-failed' });
  });
});
