// Divides tasks into train and test so that nothing of one side can be learnt from the other: never by row, always by
// whole websites. Tasks go together that share a registrable domain (eTLD+1 by the public suffix list, so that shops under
// github.io are apart), a domain's name under another ending (amazon.com, amazon.de), a group that the file names, or a
// pair that is said to be the same site. Deterministic, and independent of the rows' order.

import { getDomain, getDomainWithoutSuffix } from 'tldts';
import { TabwrightError } from '../../core/index.ts';
import { createRng } from '../../util/index.ts';
import type { LoadedTask } from './loaded-task.ts';
import { createGroups, nearGroups } from './similar.ts';

export type SplitOptions = {
  /** Share of the tasks for the test side, above 0 and below 1. */
  readonly testShare: number;
  readonly seed: number;
  /** `group`: for files of few websites; a domain may be on both sides then, near tasks of it may not. Default `domain`. */
  readonly by?: 'domain' | 'group';
  /** Domains that are one site, e.g. `['vk.com', 'vkontakte.ru']`. Default none. */
  readonly same?: readonly (readonly [string, string])[];
};

export type TaskSplit = {
  /** Positions in the list that was given, in its order. */
  readonly train: readonly number[];
  readonly test: readonly number[];
  /** Of each task. */
  readonly domains: readonly string[];
  /** Of each task: near tasks, and groups that the file names, on one domain. */
  readonly groups: readonly string[];
  /** How many parts there were to distribute, and the share of tasks in the largest. */
  readonly units: number;
  readonly largest: number;
};

type Task = Pick<LoadedTask, 'id' | 'instruction' | 'startUrls' | 'group' | 'sites'>;

export function splitTasks(tasks: readonly Task[], options: SplitOptions): TaskSplit {
  const { testShare, seed, by = 'domain', same = [] } = options;
  const domains = tasks.map(({ startUrls }) => domainOf(startUrls[0]));
  const groups = similarityGroups(tasks, domains);
  const units =
    by === 'group' ? unitsOf([groups]) : unitsOf([domains, domains.map(brandOf), groups, ...aliases(domains, same)]);
  if (units.length < 2) throw undivided(by, domains);
  const target = Math.min(tasks.length - 1, Math.max(1, Math.round(testShare * tasks.length)));
  const chosen = choose(units, tasks, { target, seed });
  const test = units
    .filter((unit) => chosen.has(unit))
    .flat()
    .sort((a, b) => a - b);
  const inTest = new Set(test);
  const train = tasks.map((_, i) => i).filter((i) => !inTest.has(i));
  const largest = Math.max(...units.map((unit) => unit.length)) / tasks.length;
  const split = { train, test, domains, groups, units: units.length, largest };
  proveApart(split, by);
  return split;
}

/** The registrable domain; an address as such, or a placeholder's name, where there is none. */
export function domainOf(url: string): string {
  const placeholder = /^__([A-Z0-9_]+?)__/u.exec(url)?.[1];
  if (placeholder !== undefined) return placeholder.toLowerCase();
  return getDomain(url, { allowPrivateDomains: true }) ?? new URL(url).hostname;
}

/** Throws where a domain or a group is on both sides: the promise is checked, not assumed. */
export function proveApart(
  { train, test, domains, groups }: Pick<TaskSplit, 'train' | 'test' | 'domains' | 'groups'>,
  by: 'domain' | 'group',
): void {
  const shared = (names: readonly string[]): string | undefined => {
    const inTrain = new Set(train.map((i) => names[i]));
    return test.map((i) => names[i]).find((name) => inTrain.has(name));
  };
  const found = (by === 'domain' ? shared(domains) : undefined) ?? shared(groups);
  if (found === undefined) return;
  throw new TabwrightError('config', `${found} is on both sides of the split.`, {
    code: 'split-leaks',
    details: { found },
  });
}

function brandOf(domain: string): string {
  return `name:${getDomainWithoutSuffix(domain, { allowPrivateDomains: true }) ?? domain}`;
}

/** By domain, and within it by what the file names or what is near. */
function similarityGroups(tasks: readonly Task[], domains: readonly string[]): readonly string[] {
  const groups = createGroups(tasks.length);
  for (const members of unitsOf([domains])) {
    const near = nearGroups(members.map((i) => tasks[i].instruction));
    near.forEach((first, at) => groups.join(members[at], members[first]));
  }
  const named = new Map<string, number>();
  tasks.forEach(({ group, sites }, i) => {
    if (group === undefined) return;
    // A group's name means something among tasks of the same sites only.
    const key = JSON.stringify([group, [...sites].sort()]);
    const first = named.get(key);
    if (first === undefined) named.set(key, i);
    else groups.join(i, first);
  });
  // Named by their members' ids, so that another order of the rows gives the same names.
  const names = new Map<number, string>();
  tasks.forEach(({ id }, i) => {
    const root = groups.find(i);
    const before = names.get(root);
    const name = `${domains[i]}#${id}`;
    if (before === undefined || name < before) names.set(root, name);
  });
  return tasks.map((_, i) => names.get(groups.find(i))!);
}

function aliases(domains: readonly string[], same: SplitOptions['same'] & object): readonly (readonly string[])[] {
  return same.map((pair, n) => domains.map((domain, i) => (pair.includes(domain) ? `same:${n}` : `own:${i}`)));
}

/** Parts whose members are joined by an equal label in any of the lists. */
function unitsOf(labels: readonly (readonly string[])[]): readonly (readonly number[])[] {
  const groups = createGroups(labels[0].length);
  for (const list of labels) {
    const first = new Map<string, number>();
    list.forEach((label, i) => {
      const before = first.get(label);
      if (before === undefined) first.set(label, i);
      else groups.join(i, before);
    });
  }
  const members = new Map<number, number[]>();
  labels[0].forEach((_, i) => {
    const root = groups.find(i);
    const known = members.get(root);
    if (known === undefined) members.set(root, [i]);
    else known.push(i);
  });
  return [...members.values()];
}

/** Whole parts in an order of the seed's, as long as each brings the test side nearer to its share. */
function choose(
  units: readonly (readonly number[])[],
  tasks: readonly Task[],
  { target, seed }: { readonly target: number; readonly seed: number },
): ReadonlySet<readonly number[]> {
  const named = units.map((unit) => ({ unit, name: unit.map((i) => tasks[i].id).sort()[0] }));
  const order = createRng('task-split', seed).shuffle(named.sort((a, b) => (a.name < b.name ? -1 : 1)));
  const chosen = new Set<readonly number[]>();
  let count = 0;
  for (const { unit } of order) {
    if (chosen.size === units.length - 1) break;
    if (Math.abs(count + unit.length - target) >= Math.abs(count - target)) continue;
    chosen.add(unit);
    count += unit.length;
  }
  // Every part is too large: the smallest is the nearest that can be had.
  if (chosen.size === 0) chosen.add(order.reduce((a, b) => (b.unit.length < a.unit.length ? b : a)).unit);
  return chosen;
}

function undivided(by: 'domain' | 'group', domains: readonly string[]): TabwrightError {
  const all = [...new Set(domains)].slice(0, 5).join(', ');
  const what =
    by === 'domain'
      ? `All tasks belong to one website (${all}): a split by domain has nothing to divide. With --by group near tasks stay together, but both sides know the site.`
      : 'All tasks are near one another: there is nothing to divide.';
  return new TabwrightError('config', what, { code: 'nothing-to-split', details: { by } });
}
