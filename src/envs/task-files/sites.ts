// Addresses of hosted sites. Task files write `__SHOPPING__` where a benchmark's own shop stands; where that is, is known
// to whoever runs it: from flags, or from the environment under the names that WebArena and BrowserGym use.

import { TabwrightError } from '../../core/index.ts';
import type { Check, LoadedTask, PageTarget } from './loaded-task.ts';

/** By the placeholder's name, e.g. `SHOPPING_ADMIN`. */
export type SiteUrls = ReadonlyMap<string, string>;

const PLACEHOLDER = /__([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)__/gu;

/** Placeholders of tasks, sorted. */
export function placeholdersOf(tasks: readonly LoadedTask[]): readonly string[] {
  const names = tasks.flatMap((task) =>
    textsOf(task).flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, name]) => name)),
  );
  return [...new Set(names)].sort();
}

export type SiteSources = {
  /** As given by hand, `SHOPPING=http://…` each; names in any letters. */
  readonly given: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Addresses of those `names` that are known; what was given by hand wins. */
export function findSites(names: readonly string[], { given, environment }: SiteSources): SiteUrls {
  const byHand = new Map(given.map(parseGiven));
  const known = names.flatMap((name): [string, string][] => {
    const url = byHand.get(name) ?? environment[`WA_${name}`] ?? environment[name];
    return url === undefined || url === '' ? [] : [[name, checked(name, url)]];
  });
  return new Map(known);
}

/** The same tasks with addresses. Refuses placeholders that nobody has given an address for, by name. */
export function withSites(tasks: readonly LoadedTask[], sites: SiteUrls): readonly LoadedTask[] {
  const missing = placeholdersOf(tasks).filter((name) => !sites.has(name));
  if (missing.length > 0) {
    const [first] = missing;
    throw new TabwrightError(
      'config',
      `Nobody has said where ${missing.map((name) => `__${name}__`).join(', ')} ${missing.length === 1 ? 'is' : 'are'}: ` +
        `give --site ${first.toLowerCase()}=http://… or set WA_${first}.`,
      { code: 'unknown-site', details: { sites: missing } },
    );
  }
  const fill = (text: string): string => text.replaceAll(PLACEHOLDER, (_, name: string) => sites.get(name)!);
  // In a pattern an address is text, not a pattern.
  const fillPattern = (text: string): string =>
    text.startsWith('^') ? text.replaceAll(PLACEHOLDER, (_, name: string) => escaped(sites.get(name)!)) : fill(text);
  return tasks.map((task) => ({
    ...task,
    startUrls: task.startUrls.map(fill) as [string, ...string[]],
    needs: { ...task.needs, images: task.needs.images.map(fill), setupUrls: task.needs.setupUrls.map(fill) },
    checks: task.checks.map((check) => filledCheck(check, fill, fillPattern)),
  }));
}

function filledCheck(check: Check, fill: (text: string) => string, fillPattern: (text: string) => string): Check {
  if (check.kind === 'final-url') return { ...check, references: check.references.map(fill) };
  if (check.kind === 'page-content') {
    return { ...check, targets: check.targets.map((target) => ({ ...target, page: filledPage(target.page, fill) })) };
  }
  // The rest is compared with what sites sent, so placeholders in its texts are addresses as well.
  if (check.kind === 'network' || check.kind === 'typed-answer') return deepFilled(check, fillPattern) as Check;
  return check;
}

function filledPage(page: PageTarget['page'], fill: (text: string) => string): PageTarget['page'] {
  return typeof page === 'string' ? page : { url: fill(page.url) };
}

function deepFilled(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((one) => deepFilled(one, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deepFilled(inner, fill)]));
}

function textsOf({ startUrls, needs, checks }: LoadedTask): readonly string[] {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  for (const check of checks) {
    if (check.kind === 'final-url') collect(check.references);
    else if (check.kind === 'page-content')
      collect(check.targets.map(({ page }) => (typeof page === 'string' ? '' : page.url)));
    else if (check.kind === 'network' || check.kind === 'typed-answer') collect(check);
  }
  return [...startUrls, ...needs.images, ...needs.setupUrls, ...texts];
}

function parseGiven(text: string): [string, string] {
  const [, name, url] = /^([A-Za-z][A-Za-z0-9_]*)=(.+)$/u.exec(text) ?? [];
  if (name !== undefined) return [name.toUpperCase(), url];
  throw new TabwrightError(
    'config',
    `--site ${text} is no site: write name=address, e.g. shopping=http://127.0.0.1:7770`,
    {
      code: 'bad-site',
      details: { given: text },
    },
  );
}

/** Without a slash at the end: what follows a placeholder begins with one. */
function checked(name: string, url: string): string {
  if (URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol)) return url.replace(/\/+$/u, '');
  throw new TabwrightError('config', `The address of ${name} is no http(s) address: ${url}`, {
    code: 'bad-site',
    details: { name, url },
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/gu, '\\$&');
}
