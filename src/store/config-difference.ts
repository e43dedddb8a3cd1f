// Which settings of two configs differ, by dotted name. Pure.

import { isJsonObject, type JsonObject, type JsonValue } from '../core/index.ts';

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
    if (isJsonObject(a) && isJsonObject(b)) return configDifferences(a, b, `${key}.`);
    return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ key, before: a, now: b }];
  });
}

/** As a sentence tells them. */
export function describeDifferences(differences: readonly ConfigDifference[]): string {
  return differences.map(({ key, before, now }) => `${key} was ${shown(before)} and is now ${shown(now)}`).join('; ');
}

function shown(value: JsonValue | undefined): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}
