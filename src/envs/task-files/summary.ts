// What tasks of a file are, in counts: sites, kinds of checks, what they need, what is not supported. Pure.

import type { JsonObject } from '../../core/index.ts';
import type { LoadedTask } from './loaded-task.ts';

/** By name, the most frequent first. */
export type TaskCounts = { readonly sites: JsonObject; readonly checks: JsonObject; readonly splits: JsonObject };

/** A task counts once for each of its sites and each kind of its checks. */
export function countsOf(tasks: readonly LoadedTask[]): TaskCounts {
  return {
    sites: tally(tasks.flatMap(({ sites }) => sites)),
    checks: tally(tasks.flatMap(({ checks }) => [...new Set(checks.map(({ kind }) => kind))])),
    splits: tally(tasks.flatMap(({ split }) => (split === undefined ? [] : [split]))),
  };
}

/** How many tasks need what. */
export function needsOf(tasks: readonly LoadedTask[]): JsonObject {
  const count = (has: (needs: LoadedTask['needs']) => boolean): number =>
    tasks.filter(({ needs }) => has(needs)).length;
  return {
    login: count(({ login }) => login),
    storageStates: [...new Set(tasks.flatMap(({ needs }) => needs.storageState ?? []))].sort(),
    reset: count(({ reset }) => reset),
    images: count(({ images }) => images.length > 0),
    geolocation: count(({ geolocation }) => geolocation !== null),
    setup: count(({ setupUrls }) => setupUrls.length > 0),
    tabs: tasks.filter(({ startUrls }) => startUrls.length > 1).length,
    judge: tasks.filter(({ checks }) => checks.some(asksJudge)).length,
  };
}

/** May: some rules ask only where the text itself does not decide. */
function asksJudge(check: LoadedTask['checks'][number]): boolean {
  if (check.kind === 'judged') return true;
  return check.kind === 'answer-text' && check.rules.some(({ rule }) => rule === 'means' || rule === 'unachievable');
}

function tally(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)));
}

export type Unsupported = { readonly evaluator: string; readonly reason: string; readonly ids: readonly string[] };

/** Checks that are not carried out here, by name, those of most tasks first. */
export function unsupportedOf(tasks: readonly LoadedTask[]): readonly Unsupported[] {
  const found = new Map<string, { reason: string; ids: string[] }>();
  for (const { id, checks } of tasks) {
    for (const check of checks) {
      if (check.kind !== 'unsupported') continue;
      const known = found.get(check.evaluator) ?? { reason: check.reason, ids: [] };
      if (!known.ids.includes(id)) known.ids.push(id);
      found.set(check.evaluator, known);
    }
  }
  return [...found]
    .map(([evaluator, { reason, ids }]) => ({ evaluator, reason, ids }))
    .sort((a, b) => b.ids.length - a.ids.length);
}
