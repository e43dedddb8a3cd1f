// The part of JSONPath that task files use: `$.a.b[0]['c d']`, names and positions, no filters and no wildcards.

import type { JsonValue } from '../../../core/index.ts';

const STEP = /\.([A-Za-z_][\w-]*)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/gu;

export function isSimplePath(path: string): boolean {
  return path.startsWith('$') && path.slice(1).replaceAll(STEP, '') === '';
}

/** Undefined where there is nothing; `path` is a simple one. */
export function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const [, name, position, single, double] of path.slice(1).matchAll(STEP)) {
    if (typeof at !== 'object' || at === null) return undefined;
    const key = name ?? position ?? single ?? double;
    at = Object.hasOwn(at, key) ? (at as Record<string, JsonValue>)[key] : undefined;
  }
  return at;
}
