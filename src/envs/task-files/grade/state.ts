// REAL's checks of a site's state: a JMESPath query and the one value that it must have. Pure. A query that fails on
// this state (a function applied to what is not there) is a check that does not hold: the state is not as expected.

import { isDeepStrictEqual } from 'node:util';
import { search } from 'jmespath';
import type { JsonValue } from '../../../core/index.ts';

/** What does not hold; undefined where it does. */
export function stateProblem(state: JsonValue, query: string, expected: JsonValue): string | undefined {
  let value: unknown;
  try {
    value = search(state, query);
  } catch (error) {
    return `the query fails on this state: ${(error as Error).message}`;
  }
  if (isDeepStrictEqual(value, expected)) return undefined;
  const shown = JSON.stringify(value ?? null);
  return `the value is ${shown.length <= 120 ? shown : `${shown.slice(0, 120)}…`}`;
}
