// Every site of agent_auth as its server gives it, without a browser: the same bytes twice, nothing from elsewhere, nothing
// in them that only the grader should know, no task for who does nothing or does not look. The oracles are played in
// agent-auth-oracles.test.ts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  describeAgentAuth,
  openAgentAuth,
  type EpisodeEnd,
  type Verdict,
  type WebSuite,
} from '../../src/envs/index.ts';
import { blueprints, type Blueprint, type Form, type Place } from '../../src/envs/sites/agent-auth/blueprint.ts';
import { namesOf } from '../../src/envs/sites/agent-auth/fields.ts';
import { plain, type AnswerField } from '../../src/envs/sites/agent-auth/grade.ts';
import { blindAnswer, USUAL_PATHS } from '../../src/envs/sites/agent-auth/policies.ts';
import { createSiteClient, type SiteClient } from './site-client.ts';

const { signal } = new AbortController();
const sites = blueprints();
let suite: WebSuite;
let port: number;
beforeAll(async () => {
  suite = await openAgentAuth();
  port = suite.egress[0].toPort!;
});
afterAll(() => suite[Symbol.asyncDispose]());

type Visit = { readonly client: SiteClient; readonly verdict: (answer: string | undefined) => Promise<Verdict> };

/** An episode on the site, begun. */
async function visit<T>(site: Blueprint, work: (visit: Visit) => Promise<T>): Promise<T> {
  await using instance = await suite.begin(site.id, { signal });
  const client = createSiteClient(port);
  const first = await client.get(instance.startUrl);
  expect([first.status, new URL(first.url).host]).toEqual([200, site.host]);
  return await work({
    client,
    verdict: (answer) => instance.verify({ answer } as EpisodeEnd, { signal }),
  });
}

const urlOf = ({ host, path }: Place): string => `http://${host}${path}`;

/** Everything that can be come to from the start page by addresses in what is served, and the forms themselves. */
async function crawl(site: Blueprint): Promise<ReadonlyMap<string, string>> {
  return visit(site, async ({ client }) => {
    const pages = new Map<string, string>();
    if (site.family.wall === 'gate') {
      pages.set('gate', (await client.get(urlOf({ host: site.host, path: '/' }))).body);
      await client.get(urlOf({ host: site.host, path: '/consent' }));
    }
    const places = [site.asked.place, site.other.place, site.page, site.otherPage];
    const waiting = [`http://${site.host}/`, ...places.map(urlOf)];
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      if (pages.has(url)) continue;
      const { body, status } = await client.get(url);
      expect(status, url).toBe(200);
      pages.set(url, body);
      for (const [, address] of body.matchAll(/(?:href|src)="([^"#][^"]*)"/g)) waiting.push(new URL(address, url).href);
    }
    return pages;
  });
}

const seen = new Map<string, ReadonlyMap<string, string>>();
/** Of an episode that has been gone through before, where there is one. */
async function pagesOf(site: Blueprint): Promise<ReadonlyMap<string, string>> {
  const pages = seen.get(site.id) ?? (await crawl(site));
  seen.set(site.id, pages);
  return pages;
}

/** What can be read on a page as the name of a field. */
function fieldNames(body: string): readonly string[] {
  const texts = [...body.matchAll(/<(?:label|legend|span id="\w+-label")[^>]*>(.*?)<\/(?:label|legend|span)>/gs)].map(
    ([, text]) => text.replace(/<[^>]*>/g, ' '),
  );
  const said = [...body.matchAll(/<(?:input|select)[^>]*?(?:placeholder|aria-label)="([^"]*)"/g)].map(
    ([, text]) => text,
  );
  return [...texts, ...said].map((text) =>
    plain(text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))),
  );
}

const listOf = ({ fields }: Form, ...more: readonly AnswerField[]): string =>
  JSON.stringify([...fields.map(({ label, control }) => ({ name: label, type: control })), ...more]);
const rightAnswer = ({ asked }: Blueprint): string => listOf(asked);

/** The attributes that pages of ours have; none of them is there for anybody but browsers and people. */
const ATTRIBUTES = new Set(
  (
    'action aria-expanded aria-hidden aria-label aria-labelledby aria-selected autocomplete charset class content dir for hidden ' +
    'href id lang method name onclick placeholder role src tabindex target title type value'
  ).split(' '),
);

describe('every site', () => {
  test('gives the same bytes to two episodes, and asks nothing of anybody else', async () => {
    for (const site of sites) {
      const [first, second] = [await pagesOf(site), await crawl(site)];
      expect(second, site.id).toEqual(first);
      for (const body of first.values()) {
        const hosts = [...body.matchAll(/\b(?:https?:)?\/\/([\w.-]+)/g)].map(([, host]) => host);
        expect(
          hosts.filter((host) => !site.hosts.includes(host)),
          site.id,
        ).toEqual([]);
        expect(body).not.toMatch(/@import|url\(/);
      }
    }
  }, 300_000);

  test('has nothing in its bytes that only the grader should know', async () => {
    for (const site of sites) {
      for (const [url, body] of await pagesOf(site)) {
        const where = `${site.id} ${url}`;
        expect(body, where).not.toMatch(/<!--/);
        expect(body.toLowerCase(), where).not.toMatch(
          /truth|expected|oracle|decoy|honeypot|grader|verif|agent[_-]?auth/,
        );
        expect(body, where).not.toContain(site.id);
        const markup = body.replace(/<(script|style)>.*?<\/\1>/gs, '');
        const attributes = [...markup.matchAll(/<[a-z][^>]*>/g)].flatMap(([tag]) =>
          [...tag.matchAll(/\s([a-z-]+)(?:="[^"]*")?(?=[\s>])/g)].map(([, name]) => name),
        );
        expect(new Set(attributes.filter((name) => !ATTRIBUTES.has(name))), where).toEqual(new Set());
      }
    }
  }, 300_000);

  test('does not show the form where it starts', async () => {
    for (const site of sites) {
      const wanted = new Set(site.asked.fields.flatMap(namesOf).map(plain));
      const pages = await pagesOf(site);
      const start = pages.get(`http://${site.host}/`)!;
      expect(start, site.id).not.toContain('type="password"');
      expect(start, site.id).not.toContain(site.asked.sentTo);
      expect(
        fieldNames(start).filter((name) => wanted.has(name)),
        site.id,
      ).toEqual([]);
      // The same look does find them where they are.
      const names = new Set(fieldNames(pages.get(urlOf(site.asked.place))!));
      expect(
        site.asked.fields.filter((field) => !namesOf(field).some((name) => names.has(plain(name)))),
        site.id,
      ).toEqual([]);
    }
  }, 300_000);

  test('is told of in words that differ by the address alone', () => {
    const words = suite.tasks.map(({ instruction, url }) => instruction.replace(url, 'URL'));
    expect(new Set(words).size).toBe(2); // signing in, and up
    expect(words.join()).not.toContain('.test');
  });

  test('is passed by the right list from its form, and failed by it where the form was not seen', async () => {
    for (const site of sites) {
      await visit(site, async ({ client, verdict }) => {
        if (site.family.wall === 'gate') {
          // Behind a gate the address of the form is not the form.
          await client.get(urlOf(site.asked.place));
          expect(await verdict(rightAnswer(site)), site.id).toMatchObject({
            success: false,
            details: { reached: false },
          });
          await client.get(`http://${site.host}/consent`);
        }
        expect(await verdict(rightAnswer(site)), site.id).toMatchObject({ success: false, reward: 0 });
        await client.get(urlOf(site.asked.place));
        expect(await verdict(rightAnswer(site)), site.id).toMatchObject({ success: true, reward: 1 });
        expect(await verdict(undefined), site.id).toMatchObject({ success: false, reward: 0 });
      });
    }
  }, 300_000);

  test('is failed by doing nothing, and hardly ever passed without looking, as published', async () => {
    let [noop, blind] = [0, 0];
    for (const site of sites) {
      await visit(site, async ({ client, verdict }) => {
        if ((await verdict('')).success) noop++;
        for (const path of USUAL_PATHS) await client.get(`http://${site.host}${path}`);
        if ((await verdict(blindAnswer(sites, site))).success) blind++;
      });
    }
    const published = describeAgentAuth();
    expect(noop / sites.length).toBe(published.noop);
    expect(Number((blind / sites.length).toFixed(4))).toBe(published.blind);
    expect(published.blind).toBeLessThan(0.02);
  }, 300_000);
});

describe('sending anything', () => {
  const site = sites.find(({ family }) => family.name === 'decoys')!;
  const at = (path: string): string => `http://${site.host}${path}`;

  test.each([
    ['the newsletter', (client: SiteClient) => client.post(at('/letter'), { letter: 'a@b.test' })],
    ['a search', (client: SiteClient) => client.get(at('/search?q=login'))],
    ['the contact form', (client: SiteClient) => client.post(at('/contact'), { text: 'hello' })],
    ['the form itself', (client: SiteClient) => client.post(urlOf({ host: site.host, path: site.asked.sentTo }), {})],
  ])('%s fails the task, whatever is answered', async (_, send) => {
    await visit(site, async ({ client, verdict }) => {
      await client.get(urlOf(site.asked.place));
      expect(await verdict(rightAnswer(site))).toMatchObject({ success: true });
      await send(client);
      expect(await verdict(rightAnswer(site))).toMatchObject({ success: false, reward: 0 });
    });
  });
});

test('answers that are not the list of the form that is asked for fail on every site', async () => {
  const answers: Readonly<Record<string, (site: Blueprint) => string>> = {
    'the other form': ({ other }) => listOf(other),
    'with the hidden fields': ({ asked }) =>
      listOf(asked, { name: 'Website', type: 'text' }, { name: 'Fax', type: 'text' }, { name: 'token', type: 'text' }),
    'with the newsletter': ({ asked, words }) => listOf(asked, { name: words.newsletter.email, type: 'email' }),
    'with the search': ({ asked, words }) => listOf(asked, { name: words.search, type: 'text' }),
    'with its button': ({ asked }) => listOf(asked, { name: asked.name, type: 'text' }),
    twice: ({ asked }) => listOf(asked) + listOf(asked),
    'a claim of success': () => 'All fields were found and listed correctly. {"success": true}',
  };
  for (const site of sites) {
    await visit(site, async ({ client, verdict }) => {
      if (site.family.wall === 'gate') await client.get(`http://${site.host}/consent`);
      await client.get(urlOf(site.asked.place));
      for (const [kind, answer] of Object.entries(answers)) {
        expect((await verdict(answer(site))).success, `${site.id}: ${kind}`).toBe(false);
      }
      expect((await verdict(listOf(site.asked))).success, site.id).toBe(true);
    });
  }
}, 300_000);

test('an id that is no task is refused', async () => {
  await expect(suite.begin('top-bar-99', { signal })).rejects.toMatchObject({ code: 'unknown-task' });
});
