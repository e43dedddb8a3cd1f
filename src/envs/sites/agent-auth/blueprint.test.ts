import { expect, test } from 'vitest';
import { blueprints } from './blueprint.ts';
import { FAMILIES } from './families.ts';
import { namesOf } from './fields.ts';
import { plain } from './grade.ts';
import { agentAuthTasks } from './suite.ts';

const sites = blueprints();

test('there are at least 300 sites in at least 12 families, each with names of its own', () => {
  expect(sites).toHaveLength(336);
  expect(FAMILIES).toHaveLength(28);
  expect(new Set(sites.map(({ id }) => id)).size).toBe(sites.length);
  const hosts = sites.flatMap((site) => site.hosts);
  expect(new Set(hosts).size).toBe(hosts.length);
});

test('the same every time', () => {
  expect(blueprints()).toEqual(sites);
});

test('no family is in both splits, and the test split has what training has not', () => {
  const tasks = agentAuthTasks();
  const groups = (split: string): ReadonlySet<string> =>
    new Set(tasks.filter((task) => task.split === split).map(({ group }) => group));
  expect([groups('train').size, groups('test').size]).toEqual([21, 7]);
  expect([...groups('test')].filter((group) => groups('train').has(group))).toEqual([]);
  expect([tasks.filter(({ split }) => split === 'train').length, tasks.length]).toEqual([252, 336]);
  const shapes = (split: string): ReadonlySet<string> =>
    new Set(FAMILIES.filter((one) => one.split === split).flatMap((one) => [one.container, one.entry, one.languages]));
  for (const only of ['closed-shadow', 'app', 'accordion', 'new-tab', 'chooser-sso', 'late-links', 'right-to-left']) {
    expect([shapes('test').has(only), shapes('train').has(only)]).toEqual([true, false]);
  }
});

test('no two fields of a form go by the same name, and each has its own type among the right ones', () => {
  for (const { asked, other, id } of sites) {
    for (const { fields } of [asked, other]) {
      const names = fields.flatMap((field) => [...new Set(namesOf(field).map(plain))]);
      expect(new Set(names).size, id).toBe(names.length);
      expect(names, id).not.toContain('');
      for (const { types, control } of fields) expect(types).toContain(control);
    }
  }
});

test('fields, looks and words vary: no list of fields is that of many', () => {
  const lists = sites.map(({ asked }) => JSON.stringify(asked.fields.map(({ label, control }) => [label, control])));
  const most = Math.max(...lists.map((list) => lists.filter((one) => one === list).length));
  expect(new Set(lists).size).toBeGreaterThan(250);
  expect(most).toBeLessThan(8);
  const themes = new Set(sites.map(({ theme }) => JSON.stringify(theme)));
  expect(themes.size).toBeGreaterThan(300);
  expect(new Set(sites.map(({ words }) => words.lang)).size).toBe(12);
  const count = (action: string): number => sites.filter(({ asked }) => asked.action === action).length;
  expect([count('sign-in'), count('sign-up')]).toEqual([168, 168]);
});
