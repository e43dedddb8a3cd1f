// What every suite on our sites must hold, task by task: it is fixed, an oracle passes, nobody passes by luck or by doing
// more, nothing tells the answer, and instances are apart. All but the oracle needs no browser.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/index.ts';
import type { EpisodeEnd, WebInstance, WebSuite } from '../../src/envs/index.ts';
import { answerIs, expectedText } from '../../src/envs/sites/kit/answers.ts';
import { judgeTask } from '../../src/envs/sites/kit/judge.ts';
import { openSiteSuite, siteTasks, type SiteSuiteDefinition } from '../../src/envs/sites/kit/suite.ts';
import { makeTask, type Made } from '../../src/envs/sites/kit/template.ts';
import { createRng } from '../../src/util/index.ts';
import { createSiteClient, type SiteClient } from './site-client.ts';
import { failures, play, playedSuite } from './site-suites.ts';

export type SuiteChecks = {
  readonly definition: SiteSuiteDefinition;
  /** A task, and what to post to change its state: one instance gets it, the other must not notice. */
  readonly change: {
    readonly id: string;
    readonly path: string;
    readonly form: Readonly<Record<string, string>>;
    readonly page: string;
  };
  /** A task whose state an oracle changes: two at once, in two browsers. */
  readonly twice: string;
};

const { signal } = new AbortController();
/** Pages of an instance that are looked at. */
const CRAWLED = 14;
const BROWSER_MS = 1_200_000;

export function checkSiteSuite({ definition, change, twice }: SuiteChecks): void {
  const { name } = definition;
  const tasks = siteTasks(definition);
  const made = tasks.map((task) => ({ ...task, made: makeTask(task.template, task.seed) }));
  let suite: WebSuite;
  beforeAll(async () => {
    suite = await openSiteSuite(definition);
  });
  afterAll(() => suite?.[Symbol.asyncDispose]());
  const visit = (): SiteClient => createSiteClient(suite.egress[0].toPort!);
  const verdict = async (instance: WebInstance, answer: string) =>
    instance.verify({ answer, stop: 'answered', actions: [], pictures: [] } as unknown as EpisodeEnd, { signal });

  describe(`${name}: the tasks`, () => {
    test('are fixed: the same words and states each time', () => {
      expect(siteTasks(definition).map(({ id, url, instruction }) => [id, url, instruction])).toEqual(
        suite.tasks.map(({ id, url, instruction }) => [id, url, instruction]),
      );
      for (const { template, seed, made: first } of made) {
        const second = makeTask(template, seed);
        expect([second.state, second.params, second.answer]).toEqual([first.state, first.params, first.answer]);
      }
    });

    test('have ids and words of their own, and instances that differ', () => {
      const distinct = (values: readonly string[]): number => new Set(values).size;
      expect(distinct(tasks.map(({ id }) => id))).toBe(suite.description.tasks);
      expect(distinct(tasks.map(({ instruction }) => instruction))).toBe(tasks.length);
      expect(distinct(made.map((one) => JSON.stringify(one.made.state)))).toBe(tasks.length);
    });

    test('are divided by group, train and test both there', () => {
      const splits = new Map<string, Set<string>>();
      for (const { group, split } of suite.tasks) splits.set(group, (splits.get(group) ?? new Set()).add(split));
      expect([...splits.values()].every((one) => one.size === 1)).toBe(true);
      const { train, test: held, tasks: all } = suite.description;
      expect(train + held).toBe(all);
      expect(Math.min(train, held)).toBeGreaterThanOrEqual(all / 4);
    });

    test('turn out in more than one way where their words leave something open', () => {
      const ways = new Map<string, Set<string | undefined>>();
      for (const { group, made: one } of made) ways.set(group, (ways.get(group) ?? new Set()).add(one.way));
      const always = [...ways].filter(([, seen]) => seen.size === 1 && !seen.has(undefined)).map(([group]) => group);
      expect(always).toEqual([]);
    });
  });

  test(`${name}: what is none of its tasks is refused`, async () => {
    await expect(suite.begin('nothing-1', { signal })).rejects.toMatchObject({ boundary: 'env', code: 'unknown-task' });
    const seen = { instruction: 'Do nothing.', tools: [], past: [], observation: { page: '' } };
    await expect(suite.policies.oracle.act(seen, { signal, seed: 0 })).rejects.toMatchObject({ code: 'not-in-suite' });
  });

  describe(`${name}: the verdict`, () => {
    test('is a failure for whoever only opens the page', async () => {
      const passed: string[] = [];
      for (const { id } of suite.tasks) {
        await using instance = await suite.begin(id, { signal });
        const { status } = await visit().get(instance.startUrl);
        expect(status, id).toBe(200);
        if ((await verdict(instance, '')).success) passed.push(id);
      }
      expect(passed).toEqual([]);
    });

    test('of those who guess is the figure that is published', async () => {
      let right = 0;
      for (const { instruction, made: one } of made) {
        const seen = { instruction, tools: [], past: [], observation: { page: '' } };
        const { action } = await suite.policies.blind.act(seen, { signal, seed: 0 });
        const answer = action.kind === 'answer' ? action.text : undefined;
        if (judgeTask({ made: one, after: one.state, answer }).success) right++;
      }
      expect(definition.figures.blind).toBe(Math.round((right / made.length) * 1_000) / 1_000);
    });

    test('is a success for the state and the answer that were asked for, and for no other', () => {
      for (const { id, made: one } of made) {
        const answer = one.answer === undefined ? '' : expectedText(one.answer);
        const right = structuredClone(one.state);
        one.goal?.(right);
        expect(judgeTask({ made: one, after: right, answer }), id).toMatchObject({ success: true, reward: 1 });
        for (const wrong of spoiled(right, one, id))
          expect(judgeTask({ made: one, after: wrong, answer }).success, id).toBe(false);
        if (one.answer !== undefined) {
          for (const more of [`${answer}, ${answer}x`, `not ${answer} but 77`, `${answer}\n${answer} or 3`])
            expect(answerIs(one.answer, more), `${id}: ${more}`).toBe(false);
        }
      }
    });

    test('is a failure for whoever obeys a page', () => {
      const lured = made.filter(({ made: one }) => one.lure !== undefined);
      for (const { id, made: one } of lured) {
        const after = structuredClone(one.state);
        one.lure!(after);
        const answer = one.answer === undefined ? '' : expectedText(one.answer);
        expect(judgeTask({ made: one, after, answer }), id).toMatchObject({ success: false, reward: 0 });
      }
    });
  });

  describe(`${name}: what is served`, () => {
    test('is the same for the same task, to the byte, and says nothing of the task', async () => {
      for (const { template, id, instruction, made: one } of made.filter(
        ({ group }, i) => made[i - 1]?.group !== group,
      )) {
        await using first = await suite.begin(id, { signal });
        await using second = await suite.begin(id, { signal });
        const [pages, again] = [await crawl(visit(), first.startUrl), await crawl(visit(), second.startUrl)];
        expect([...again], id).toEqual([...pages]);
        expect(pages.size, id).toBeGreaterThan(2);
        const served = [...pages.values()].join('\n');
        for (const word of [template.name, id, instruction, '<!--', `seed`, 'oracle'])
          expect(served.includes(word), `${id}: ${word}`).toBe(false);
        // What an agent sees before it acts: address, title, words. The answer is in none of them.
        const [[url, body]] = pages;
        const seen = [url, /<title>([^<]*)/.exec(body)?.[1] ?? '', instruction];
        if (one.answer !== undefined) {
          const answer =
            one.answer.kind === 'number'
              ? new RegExp(`(?<![\\d.,])${one.answer.value}(?![\\d])`)
              : expectedText(one.answer);
          for (const text of seen.slice(0, 2)) expect(text).not.toMatch(answer);
          // Where the task leaves something open, its words name every way that it may turn out.
          if (one.answer.kind !== 'number' && one.way === undefined) expect(instruction).not.toContain(answer);
        }
      }
    });

    test('belongs to one instance: what one does, another does not see', async () => {
      await using first = await suite.begin(change.id, { signal });
      await using second = await suite.begin(change.id, { signal });
      const [one, other] = [visit(), visit()];
      const { url } = await one.get(first.startUrl);
      await other.get(second.startUrl);
      const at = (path: string): string => new URL(path, url).href;
      const before = await other.get(at(change.page));
      expect((await one.get(at(change.page))).body).toBe(before.body);
      expect((await one.post(at(change.path), change.form)).status).toBe(200);
      expect((await one.get(at(change.page))).body).not.toBe(before.body);
      expect((await other.get(at(change.page))).body).toBe(before.body);
    });
  });

  describe(`${name}: in a browser`, () => {
    test('an oracle that acts on the page solves every task', { timeout: BROWSER_MS }, async () => {
      await using env = playedSuite(suite, { kept: true });
      const played = await play(env, suite.policies.oracle, suite.tasks.length);
      expect(failures(played)).toEqual([]);
      expect(played.map(({ turns }) => turns.length)).toEqual(played.map(() => 2));
      expect(definition.figures.oracle).toBe(1);
    });

    test('two at once do not disturb each other, and doing nothing fails', { timeout: BROWSER_MS }, async () => {
      await using env = playedSuite(suite, { ids: [twice] });
      expect(failures(await play(env, suite.policies.oracle, 2))).toEqual([]);
      const [nothing] = await play(env, suite.policies.noop, 1);
      expect(nothing.outcome).toMatchObject({ kind: 'finished', success: false, stop: 'answered' });
      expect(definition.figures.noop).toBe(0);
    });
  });
}

/** The right state with one thing changed that nobody asked for, five times over. */
function spoiled(right: JsonObject, { free = [] }: Made<JsonObject>, id: string): readonly JsonObject[] {
  const rng = createRng('spoiled', id);
  const places = leafPaths(right).filter(
    (path) => path.at(-1) !== 'id' && !free.some((form) => form.endsWith(`.${path.at(-1)}`)),
  );
  return rng
    .shuffle(places)
    .slice(0, 5)
    .map((path) => {
      const state = structuredClone(right);
      const owner = path
        .slice(0, -1)
        .reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, state);
      const key = path.at(-1)!;
      const value = owner[key];
      owner[key] = typeof value === 'boolean' ? !value : typeof value === 'number' ? value + 1 : `${String(value)}x`;
      return state;
    });
}

function leafPaths(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, item]) => leafPaths(item, [...path, key]));
}

/** Pages by address, the first one first, in the order in which they link each other. Nothing is sent. */
async function crawl(client: SiteClient, startUrl: string): Promise<ReadonlyMap<string, string>> {
  const first = await client.get(startUrl);
  const pages = new Map([[first.url, first.body]]);
  const queue = [...links(first.url, first.body)];
  for (let url = queue.shift(); url !== undefined && pages.size < CRAWLED; url = queue.shift()) {
    if (pages.has(url)) continue;
    const { body, status } = await client.get(url);
    expect(status, url).toBe(200);
    pages.set(url, body);
    queue.push(...links(url, body));
  }
  return pages;
}

function links(page: string, body: string): readonly string[] {
  return [...body.matchAll(/<a [^>]*href="([^"]*)"/g)].map(
    ([, href]) => new URL(href.replace(/&#38;|&amp;/g, '&'), page).href,
  );
}
