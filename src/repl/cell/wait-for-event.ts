// `waitForEvent` as cells call it. The host knows which events came; the predicate is the cell's code and runs here,
// so the host is asked again, from that event on, for as long as the predicate says no. Wrong arguments throw at once,
// before there is a promise.

import type { HostLink } from './host-link.ts';
import type { Realm } from './realm.ts';

type Options = { readonly sessionId?: unknown; readonly timeoutSec?: unknown; readonly predicate?: unknown };
type Found = { readonly sequence: number; readonly event: unknown } | null;

const OPTIONS = ['sessionId', 'timeoutSec', 'predicate'];
const DEFAULT_TIMEOUT_SEC = 30;

export function createWaitForEvent(realm: Realm, link: HostLink): unknown {
  const wait = realm.wrapAsync('waitForEvent', async (args) => {
    const { sessionId, timeoutSec = DEFAULT_TIMEOUT_SEC, predicate } = args[1] as Options;
    const end = performance.now() + (timeoutSec as number) * 1000;
    let sequence: number | undefined;
    for (;;) {
      const left = Math.max(0, end - performance.now()) / 1000;
      const options = {
        ...(sessionId === undefined ? {} : { sessionId }),
        timeoutSec: left,
        ...(sequence === undefined ? {} : { sequence }),
      };
      const found = (await link.call('waitForEvent', [args[0], options])) as Found;
      if (found === null) return null;
      if (predicate === undefined || (await (predicate as (event: unknown) => unknown)(found.event)))
        return found.event;
      sequence = found.sequence;
    }
  }) as (method: unknown, options: Options) => Promise<unknown>;

  return realm.wrap('waitForEvent', (args) => {
    const options = args[1] ?? {};
    const problem = argumentProblem(args[0], options);
    if (problem !== undefined) throw new (realm.errors.get('TypeError')!)(`waitForEvent: ${problem}`);
    return wait(args[0], options);
  });
}

function argumentProblem(method: unknown, options: unknown): string | undefined {
  if (typeof method !== 'string' || method === '') return 'method must be a non-empty string';
  if (typeof options !== 'object' || options === null) return 'options must be an object';
  const unknown = Object.keys(options).find((key) => !OPTIONS.includes(key));
  if (unknown !== undefined) return `unknown option: ${unknown}`;
  const { sessionId, timeoutSec, predicate } = options as Options;
  if (sessionId !== undefined && sessionId !== null && typeof sessionId !== 'string') {
    return 'sessionId must be a string or null';
  }
  if (timeoutSec !== undefined && !(Number.isFinite(timeoutSec) && (timeoutSec as number) >= 0)) {
    return 'timeoutSec must be a finite number of seconds, 0 or more';
  }
  if (predicate !== undefined && typeof predicate !== 'function') return 'predicate must be a function';
  return undefined;
}
