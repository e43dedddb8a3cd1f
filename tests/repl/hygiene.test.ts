// Nothing of an episode survives into the next one, although the browser does. In each place where a session can be.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCdpProvider } from '../../src/repl/providers/cdp.ts';
import { createLocalProvider } from '../../src/repl/providers/local.ts';
import type { SessionProvider } from '../../src/repl/providers/provider.ts';
import { noJail, probe, whyNot } from '../sandbox/jail.ts';
import { startChromiumWithPort } from './chromium-with-port.ts';
import { leave, leaveTraps, look, serveTraceSite, type TraceSite } from './traces.ts';

const { signal: NEVER } = new AbortController();

let site: TraceSite;
beforeAll(async () => {
  site = await serveTraceSite();
});
afterAll(() => site[Symbol.asyncDispose]());

async function expectNothingSurvives(provider: SessionProvider): Promise<void> {
  let fresh;
  {
    await using first = await provider.acquire({ signal: NEVER });
    fresh = await look(first, site);
    expect(fresh.tabs).toEqual(['about:blank']);
    await leave(first, site);
    const left = await look(first, site);
    // Everything that was left is what `look` looks at.
    expect(left.tabs.length).toBeGreaterThan(1);
    expect(left.contexts).toBe(1);
    expect(left.workers).not.toEqual([]);
    expect(left.files).toEqual(['left.png']);
    expect(left.globals).toEqual(['number', 'number']);
    for (const page of left.pages) {
      expect(page).toMatchObject({ cookie: 'left=yes', stored: [1, 0, 1, 1, 1], mayLocate: 'granted' });
    }
    await leaveTraps(first);
  }
  const asked = site.cacheable;
  await using second = await provider.acquire({ signal: NEVER });
  expect(await look(second, site)).toEqual(fresh);
  expect(site.cacheable).toBe(asked + site.origins.length);
}

describe('an episode finds the browser as new', () => {
  test.skipIf(noJail)(
    `in a jail, the browser being used again${whyNot}`,
    async () => {
      await using provider = createLocalProvider({ jail: probe, egress: site.egress, sessions: 1, episodes: 2 });
      await expectNothingSurvives(provider);
    },
    90_000,
  );

  test('without a jail, the browser being used again', async () => {
    await using provider = createLocalProvider({ jail: 'unsafe-local', sessions: 1, episodes: 2 });
    await expectNothingSurvives(provider);
  }, 90_000);

  test('over a port, where the browser stays for ever', async () => {
    await using chromium = await startChromiumWithPort();
    await using provider = createCdpProvider({ jail: 'unsafe-local', endpoints: [chromium.http] });
    await expectNothingSurvives(provider);
  }, 90_000);
});
