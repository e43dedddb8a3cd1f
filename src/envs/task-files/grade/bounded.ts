// Comparisons that end: a file's patterns meet texts of whoever plays, and there are patterns that some texts keep busy for
// minutes (`^(a|aa)+$`). This process has other episodes to serve, so whatever computes too long is cut off.

import { createContext, Script } from 'node:vm';

/** Its context lends nothing but the clock that ends it; what is called is ours. */
const CALL = new Script('call()');

/** What `compute` gives, or `late()` where it is not done in that many milliseconds. It must not wait for anything. */
export function bounded<T>(ms: number, compute: () => T, late: () => T): T {
  let result: { readonly value: T } | undefined;
  try {
    CALL.runInContext(createContext({ call: () => void (result = { value: compute() }) }), { timeout: ms });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
  }
  return result === undefined ? late() : result.value;
}
