// A page of sections (`## name …`) written anew in part: sections of what was measured now, and of everything else as they
// were. Pure.

const TITLE = /^## /m;

/** `page` with the sections of `before` for environments that it has none for, in the order of their titles. */
export function mergeSections(page: string, before: string): string {
  const [introduction, ...own] = page.split(TITLE);
  const names = new Set(own.map(nameOf));
  const kept = before
    .split(TITLE)
    .slice(1)
    .filter((section) => !names.has(nameOf(section)));
  const sections = [...own, ...kept.map(tableOf)]
    .sort((a, b) => (a < b ? -1 : 1))
    .map((section) => `## ${section.trim()}\n`);
  return [introduction.trimEnd() + '\n', ...sections].join('\n');
}

/** A title begins with the environment's name. */
function nameOf(section: string): string {
  return /^\S+/.exec(section)?.[0] ?? '';
}

/** Title and table: what stands below the last table of a page is no part of it. */
function tableOf(section: string): string {
  const [title, ...lines] = section.split('\n');
  return [title, '', ...lines.filter((line) => line.startsWith('|'))].join('\n');
}
