// Sessions with a browser of this machine, beyond what cells do with them.

import { expect, test } from 'vitest';
import { locateChromium } from '../../src/browser/index.ts';
import { createLocalProvider, openLocalSession, type PoolEvent, type ReplSession } from '../../src/repl/index.ts';
import { descendants } from '../sandbox/jail.ts';

const { signal: NEVER } = new AbortController();
const KINDS = [{ prefer: 'chrome' as const }, { prefer: 'headless-shell' as const }];

async function shown(session: ReplSession, code: string): Promise<string> {
  const { error, content = [] } = await session.execute({ code });
  return error ?? content.map((item) => (item.type === 'text' ? item.text : '')).join('');
}

/** Kills the browsers that this process has started. */
async function killBrowsers(): Promise<void> {
  const browsers = (await descendants(process.pid)).filter(
    ({ command, parent }) => parent === process.pid && command.includes('--remote-debugging-pipe'),
  );
  expect(browsers).toHaveLength(1);
  process.kill(-browsers[0].pid, 'SIGKILL');
}

test.each(KINDS)('pages are as large as was asked for, in tabs opened later too ($prefer)', async ({ prefer }) => {
  const location = await locateChromium({ prefer });
  await using session = await openLocalSession(
    { jail: 'unsafe-local', location, viewport: { width: 800, height: 600 } },
    NEVER,
  );
  const sizes = await shown(
    session,
    `for (const url of ['about:blank', 'data:text/html,one']) {
      await newTab(url);
      repl.write(await js('innerWidth + "x" + innerHeight') + ' ');
    }
    await switchTab((await listTabs()).at(-1));
    repl.write(await js('innerWidth + "x" + innerHeight'));`,
  );
  expect(sizes).toBe('800x600 800x600 800x600');
});

test('a browser that dies is started again, and variables stay', async () => {
  await using session = await openLocalSession({ jail: 'unsafe-local' }, NEVER);
  expect(await shown(session, `var kept = (await pageInfo()).url; repl.write(kept)`)).toBe('about:blank');
  await killBrowsers();
  await expect.poll(() => session.closed).toBe(true);
  expect(await shown(session, `repl.write(kept + ' ' + (await listTabs()).length)`)).toBe('about:blank 1');
  expect(session.closed).toBe(false);
});

test('a browser that dies while nobody has it is replaced by one that answers', async () => {
  const events: PoolEvent[] = [];
  await using provider = createLocalProvider({
    jail: 'unsafe-local',
    sessions: 1,
    checkEveryMs: 20,
    onEvent: (event) => events.push(event),
  });
  await expect.poll(() => provider.state.idle, { timeout: 20_000 }).toBe(1);
  await killBrowsers();
  await using session = await provider.acquire({ signal: NEVER });
  expect(await shown(session, `repl.write((await pageInfo()).url)`)).toBe('about:blank');
});
