// A browser that hangs while a grader looks at its pages: every thing that is asked of it has a deadline, so that the episode
// ends as one that does not count, and the next look works once the browser goes on.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser, locateChromium, type Browser } from '../../src/browser/index.ts';
import type { LoadedTask } from '../../src/envs/index.ts';
import { readFrozen } from '../../src/envs/task-files/pages/index.ts';
import { takeSnapshot } from '../../src/envs/task-files/take-snapshot.ts';
import type { HostTab, SessionLease } from '../../src/repl/index.ts';

const { signal } = new AbortController();
const URL_OF_PAGE = 'data:text/html,<h1>Green lamp</h1>';
const LOOK = { locator: `document.querySelector('h1').outerText`, prepare: [] };
let browser: Browser;
let tab: HostTab;

beforeAll(async () => {
  browser = await launchBrowser({
    location: await locateChromium({ prefer: 'headless-shell', signal }),
    mode: 'ordinary',
    signal,
  });
  const connection = browser.cdp;
  const attach = async (targetId: string): Promise<string> =>
    (await connection.root.send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
  const { targetId } = await connection.root.send('Target.createTarget', { url: URL_OF_PAGE });
  tab = { connection, targetId, browserContextId: undefined, url: URL_OF_PAGE, attach };
}, 120_000);
afterAll(() => browser?.[Symbol.asyncDispose](), 60_000);

async function hanging(look: () => Promise<unknown>): Promise<unknown> {
  process.kill(-browser.pid, 'SIGSTOP'); // its whole group
  try {
    return await look().catch((error: unknown) => error);
  } finally {
    process.kill(-browser.pid, 'SIGCONT');
  }
}

it('a context for a frozen page that is never made is given up', { timeout: 60_000 }, async () => {
  const page = { url: URL_OF_PAGE, nodes: [] };
  const read = () => readFrozen(tab, page, [LOOK], { signal, contextMs: 300 });
  expect(await hanging(read)).toMatchObject({ boundary: 'browser', code: 'browser-hangs', details: { ms: 300 } });
  expect(await readFrozen(tab, page, [LOOK], { signal })).toEqual([null]);
});

it('a tab that can neither be attached to nor let go of is given up', { timeout: 60_000 }, async () => {
  const task = {
    id: 'lamp',
    checks: [{ kind: 'page-content', targets: [{ page: 'last', ...LOOK, rules: [] }] }],
  } as unknown as LoadedTask;
  const session = { tab: () => Promise.resolve(tab) } as unknown as SessionLease;
  const look = (tabMs?: number) =>
    takeSnapshot(task, {
      answer: undefined,
      session,
      signal,
      ...(tabMs === undefined ? {} : { tabMs, readMs: tabMs }),
    });
  expect(await hanging(() => look(300))).toMatchObject({ boundary: 'browser', code: 'browser-hangs' });
  const seen = await look();
  expect([...seen!.texts.values()]).toEqual(['Green lamp']);
});
