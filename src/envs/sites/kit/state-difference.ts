// What became of an instance's state beside what should have become of it, leaf by leaf. Whatever differs from the
// state that was asked for is a failure, so things that nobody asked for need no list of their own. Pure.

import type { JsonObject, JsonValue } from '../../../core/index.ts';

export type StateDifference = {
  /** Places that had to change. */
  readonly wanted: readonly string[];
  /** Of these, the ones that are not as they should be. */
  readonly missing: readonly string[];
  /** Places that changed though nothing was to change there. */
  readonly unasked: readonly string[];
};

export type CompareStates = {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly expected: JsonObject;
  /** Places that may change: paths in which `*` stands for one part, and what lies below them. */
  readonly free?: readonly string[];
};

export function compareStates({ before, after, expected, free = [] }: CompareStates): StateDifference {
  const ignored = free.map((path) => path.split('.'));
  const counts = (path: string): boolean => {
    const parts = path.split('.');
    return !ignored.some((form) => form.every((part, i) => part === '*' || part === parts[i]));
  };
  const [was, is, should] = [before, after, expected].map((state) => leaves(state));
  const places = [...new Set([...was.keys(), ...is.keys(), ...should.keys()])].filter(counts);
  const wanted = places.filter((path) => was.get(path) !== should.get(path));
  return {
    wanted,
    missing: wanted.filter((path) => is.get(path) !== should.get(path)),
    unasked: places.filter((path) => was.get(path) === should.get(path) && is.get(path) !== was.get(path)),
  };
}

/** Objects in lists go by their `id`, so that one that is gone shifts no other. White space in texts does not count. */
function leaves(value: JsonValue, path = '', found = new Map<string, string>()): Map<string, string> {
  const below = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    const named = items.length > 0 && items.every((item) => idOf(item) !== undefined);
    if (named) for (const item of items) leaves(item, below(idOf(item)!), found);
    else if (items.length > 0) found.set(path, JSON.stringify(items));
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) leaves(item, below(key), found);
  } else {
    found.set(path, JSON.stringify(typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : value));
  }
  return found;
}

function idOf(value: JsonValue): string | undefined {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' ? id : undefined;
}
