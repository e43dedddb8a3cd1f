// Sites of our own in a real Chromium through the REPL, in the jail and without one: names without a port, an instance for
// each session, frames of the same domain and links to another, and no request to anywhere else.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { htmlReply, markup, openSiteHost, type Site, type SiteHost } from '../../src/envs/index.ts';
import { openLocalSession, type SessionLease } from '../../src/repl/index.ts';
import type { EgressEvent } from '../../src/sandbox/index.ts';
import { pinnedNames } from '../../src/repl/session-place.ts';
import { noJail, probe, whyNot } from '../sandbox/jail.ts';

const { signal } = new AbortController();
const site: Site = {
  hosts: ['shop.test', 'id.shop.test', 'bank.test'],
  startUrl: 'http://shop.test/',
  open() {
    let seen = 0;
    return ({ host, path }) => {
      seen++;
      if (path === '/inner') return htmlReply(markup`<title>inner</title><p>${host} ${seen}</p>`);
      return htmlReply(
        markup`<!doctype html><title>${host}</title><p>${seen}</p><a href="http://bank.test/">bank</a>
          <iframe src="http://id.shop.test/inner"></iframe><img src="http://elsewhere.test/x.png">`,
      );
    };
  },
};

let host: SiteHost;
beforeAll(async () => {
  host = await openSiteHost([site]);
});
afterAll(() => host[Symbol.asyncDispose]());

async function cell(session: SessionLease, code: string): Promise<string> {
  const result = await session.execute({ code, timeoutMs: 60_000, signal });
  expect(result.error).toBeUndefined();
  return (result.content ?? []).map((item) => (item.type === 'text' ? item.text : '')).join('');
}
const open = (url: string): string => `await gotoUrl(${JSON.stringify(url)}); await waitForLoad();
  const { nodes } = await accessibilitySnapshot({ frames: true });
  repl.write([await js('location.href'), ...nodes.filter(({ role }) => role === 'StaticText').map(({ name }) => name)].join('|'));`;

const places = [
  ['in the jail' + whyNot, noJail, () => probe],
  ['without a jail', false, () => 'unsafe-local' as const],
] as const;

describe.each(places)('%s', (_, skipped, jail) => {
  test.skipIf(skipped)(
    'two sessions play the same site apart, at the same addresses, and nothing is asked of anybody else',
    async () => {
      const events: EgressEvent[] = [];
      const options = {
        jail: jail(),
        extensions: { snapshot: true },
        egress: host.egress,
        onEgress: (event: EgressEvent) => events.push(event),
      };
      using one = host.begin(site);
      using two = host.begin(site);
      await using first = await openLocalSession(options, signal);
      await using second = await openLocalSession(options, signal);
      const seen = 'http://shop.test/|1|bank|id.shop.test 2';
      expect(await cell(first, open(one.startUrl))).toBe(seen);
      expect(await cell(second, open(two.startUrl))).toBe(seen);
      await cell(
        first,
        `await click('a');
        for (let i = 0; i < 400 && (await js('location.host')) !== 'bank.test'; i++) await waitMs(50);
        await waitForLoad();`,
      );
      // The frame of another domain has no cookie, so it belongs to nobody.
      expect(one.log.map((entry) => entry.host)).toEqual(['shop.test', 'id.shop.test', 'bank.test']);
      expect(two.log).toHaveLength(2);
      // The picture from elsewhere is stopped before it is asked for. Chromium asks its maker's servers for updates by
      // itself and is refused.
      const reached = events
        .filter(({ address }) => address !== undefined)
        .map((event) => `${event.host}:${event.port}`);
      expect(new Set(reached)).toEqual(
        new Set(jail() === 'unsafe-local' ? [] : ['shop.test:80', 'id.shop.test:80', 'bank.test:80']),
      );
      expect(events.filter((event) => event.host.endsWith('.test') && event.reason !== undefined)).toEqual([]);
    },
    120_000,
  );
});

test('without a jail names are pinned by a flag, and rules without an address are not', () => {
  expect(pinnedNames([{ host: '*' }, { host: 'a.test', address: '127.0.0.1', toPort: 5 }])).toEqual([
    '--host-resolver-rules=MAP a.test 127.0.0.1:5',
  ]);
  expect(pinnedNames([{ host: '*' }])).toEqual([]);
});
