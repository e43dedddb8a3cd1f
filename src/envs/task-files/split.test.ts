import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { similarity } from './similar.ts';
import { domainOf, proveApart, splitTasks, type SplitOptions } from './split.ts';

type Task = Parameters<typeof splitTasks>[0][number];
const task = (id: string, url: string, instruction = `Do ${id}`, more: Partial<Task> = {}): Task => ({
  id,
  startUrls: [url],
  instruction,
  sites: [domainOf(url)],
  ...more,
});
const idsOf = (tasks: readonly Task[], options: Partial<SplitOptions> = {}): { train: string[]; test: string[] } => {
  const { train, test } = splitTasks(tasks, { testShare: 0.3, seed: 1, ...options });
  return { train: train.map((i) => tasks[i].id), test: test.map((i) => tasks[i].id) };
};
/** Whether the two are always on the same side. */
const together = (tasks: readonly Task[], one: string, other: string, options: Partial<SplitOptions> = {}): boolean =>
  Array.from({ length: 20 }, (_, seed) => idsOf(tasks, { ...options, seed })).every(
    ({ test }) => test.includes(one) === test.includes(other),
  );
const FILLERS = Array.from({ length: 12 }, (_, i) => task(`filler${i}`, `https://filler${i}.test/`));

it.each([
  ['https://www.shop.co.uk/a?b', 'shop.co.uk'],
  ['https://a.b.example.com/', 'example.com'],
  ['https://ann.github.io/x', 'ann.github.io'],
  ['http://127.0.0.1:8080/', '127.0.0.1'],
  ['http://localhost:3000/', 'localhost'],
  ['__SHOPPING_ADMIN__/sales', 'shopping_admin'],
])('the domain of %s is %s', (url, domain) => expect(domainOf(url)).toBe(domain));

describe('tasks that stay together', () => {
  it.each([
    ['of one domain', task('a', 'https://www.shop.com/'), task('b', 'https://help.shop.com/faq'), {}],
    ['of one name under several endings', task('a', 'https://amazon.com/'), task('b', 'https://www.amazon.co.uk/'), {}],
    [
      'of domains that are said to be one site',
      task('a', 'https://vk.com/'),
      task('b', 'https://vkontakte.ru/'),
      { same: [['vk.com', 'vkontakte.ru']] },
    ],
    [
      'of one group of the file',
      task('a', 'https://x.com/', 'One', { group: 'g', sites: ['s'] }),
      task('b', 'https://y.com/', 'Two', { group: 'g', sites: ['s'] }),
      {},
    ],
  ] as const)('%s', (_, a, b, options) => {
    expect(together([a, b, ...FILLERS], 'a', 'b', options as Partial<SplitOptions>)).toBe(true);
  });

  it('are not those of two sites of one host of pages', () => {
    expect(
      together([task('a', 'https://ann.github.io/'), task('b', 'https://bob.github.io/'), ...FILLERS], 'a', 'b'),
    ).toBe(false);
  });

  it('by group: near tasks of one site, while others of it may be apart', () => {
    const tasks = [
      task('a', 'http://localhost/', 'Find the cheapest red shoe of size 42 and add it to the cart'),
      task('b', 'http://localhost/', 'Find the cheapest red shoe of size 38 and add it to the cart'),
      task('c', 'http://localhost/', 'Write a letter to the landlord'),
      ...['Ban a user', 'Rename the second folder', 'Which city has most people?', 'Log out'].map((words, i) =>
        task(`d${i}`, 'http://localhost/', words),
      ),
    ];
    expect(together(tasks, 'a', 'b', { by: 'group' })).toBe(true);
    expect(together(tasks, 'a', 'c', { by: 'group' })).toBe(false);
  });
});

it('similarity: numbers and quoted texts are the same, other words are not', () => {
  expect(similarity('Buy 3 of "red shoe"', 'Buy 12 of "blue hat"')).toBe(1);
  expect(similarity('Show the newest post', 'Delete my account now')).toBeLessThan(0.1);
  // {show,the,newest,post} + 5 pairs against {show,the,oldest,post} + 5: 3 + 2 shared of 13
  expect(similarity('Show the newest post', 'Show the oldest post')).toBeCloseTo(6 / 12, 10);
});

describe('a split', () => {
  const anyTasks = fc
    .array(
      fc.record({
        site: fc.integer({ min: 0, max: 9 }),
        words: fc.constantFrom('Buy a shoe', 'Read the news', 'Log in', 'Find 3 maps'),
      }),
      { minLength: 4, maxLength: 60 },
    )
    .map((list) => list.map(({ site, words }, i) => task(`t${i}`, `https://site${site}.test/`, words)));

  it('divides all tasks, keeps websites whole, and is the same for the same seed and any order of rows', () => {
    fc.assert(
      fc.property(anyTasks, fc.integer({ min: 0, max: 1000 }), (tasks, seed) => {
        fc.pre(new Set(tasks.map(({ startUrls }) => startUrls[0])).size > 1);
        const split = idsOf(tasks, { seed });
        expect([...split.train, ...split.test].sort()).toEqual(tasks.map(({ id }) => id).sort());
        expect(split.train.length * split.test.length).toBeGreaterThan(0);
        const domains = (ids: readonly string[]): Set<string> =>
          new Set(tasks.filter(({ id }) => ids.includes(id)).map(({ startUrls }) => startUrls[0]));
        const inTrain = domains(split.train);
        expect([...domains(split.test)].filter((domain) => inTrain.has(domain))).toEqual([]);
        const turned = idsOf([...tasks].reverse(), { seed });
        expect(turned.test.sort()).toEqual(split.test.sort());
      }),
      { numRuns: 60 },
    );
  });

  it('comes near the share where websites are small, and another seed gives another one', () => {
    const tasks = Array.from({ length: 200 }, (_, i) => task(`t${i}`, `https://site${i % 80}.test/`));
    const sizes = [0, 1, 2, 3].map((seed) => idsOf(tasks, { seed, testShare: 0.2 }).test.length);
    for (const size of sizes) expect(Math.abs(size - 40)).toBeLessThanOrEqual(2);
    expect(idsOf(tasks, { seed: 0 }).test).not.toEqual(idsOf(tasks, { seed: 1 }).test);
  });

  it('of one website is refused, with what can be done', () => {
    const tasks = [task('a', 'http://localhost/', 'Buy a shoe'), task('b', 'http://localhost/', 'Read the news')];
    expect(() => idsOf(tasks)).toThrow(/one website \(localhost\).*--by group/u);
    expect(idsOf(tasks, { by: 'group' }).test).toHaveLength(1);
  });

  it('that leaks is not let through', () => {
    const leak = { train: [0], test: [1], domains: ['a.test', 'a.test'], groups: ['x', 'y'] };
    expect(() => proveApart(leak, 'domain')).toThrow('a.test is on both sides');
    expect(() => proveApart(leak, 'group')).not.toThrow();
    expect(() => proveApart({ ...leak, groups: ['x', 'x'] }, 'group')).toThrow('x is on both sides');
  });
});

it('a large file is divided', () => {
  const tasks = Array.from({ length: 12_000 }, (_, i) =>
    task(
      `t${i}`,
      `https://site${i % 5_000}.test/`,
      `Find the ${i % 97}th best ${['shoe', 'lamp', 'map'][i % 3]} in town ${i % 41}`,
    ),
  );
  const before = process.cpuUsage();
  const { train, test } = splitTasks(tasks, { testShare: 0.1, seed: 0 });
  const { user, system } = process.cpuUsage(before);
  expect([train.length + test.length, Math.abs(test.length - 1_200) < 10]).toEqual([12_000, true]);
  expect((user + system) / 1e6).toBeLessThan(60); // seconds; work that is quadratic takes hours
}, 120_000);
