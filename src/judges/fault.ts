// Failures of judges: replies that are none. They end a judgement as `invalid`, never as a failure of who is judged.

import { TabwrightError, type JsonObject } from '../core/index.ts';

/** Codes: judge-empty, judge-cut, judge-refused, judge-bad-reply, judge-contradiction, judge-blocked, judge-no-evidence, ... */
export function judgeFault(code: `judge-${string}`, message: string, details: JsonObject = {}): TabwrightError {
  return new TabwrightError('judge', message, { code, details });
}
