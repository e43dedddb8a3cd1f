// Which settings of two configs differ, by dotted name. Pure.

import type { JsonObject, JsonValue } from '../core/index.ts';

export type ConfigDifference = {
  readonly key: string;
  readonly before: JsonValue | undefined;
  readonly now: JsonValue | undefined;
};

/** Differences between two configs, in the order of the keys; nested objects are compared key by key, arrays as wholes. */
export function configDifferences(before: JsonObject, now: JsonObject, prefix = ''): ConfigDifference[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return keys.flatMap((name) => {
    const key = prefix + name;
    const [a, b] = [before[name], now[name]];
    if (isObject(a) && isObject(b)) return configDifferences(a, b, `${key}.`);
    return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ key, before: a, now: b }];
  });
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
