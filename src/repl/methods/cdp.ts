// The protocol itself: any command that the policy lets through, and the events.

import { z } from 'zod';
import { cdpRefused, helperFailed } from './failures.ts';
import { hostMethod, nonEmpty, options, seconds, type MethodContext } from './method.ts';
import { untilDialog } from './scope.ts';

const BROWSER_WIDE = /^(?:Target|Browser|SystemInfo|Storage)\./;
const SESSION_ERROR = 'sessionId must be a string, or null for the browser';
const sessionSchema = z.string({ error: SESSION_ERROR }).nullable().optional();

export const cdp = hostMethod(
  {
    name: 'cdp',
    namespace: 'browser',
    effect: 'acts',
    signature: 'cdp(method, params?, sessionId?)',
    description:
      'Sends a command of the DevTools protocol and returns its answer. It goes to the attached page; `Target.*`, `Browser.*` and `Storage.*` go to the browser. `null` as session id forces the browser, a string names another session. Commands that would reach beyond the session (files outside its scratch folder, the browser process, other ways to the network) are refused.',
    example:
      'await cdp("Page.handleJavaScriptDialog", { accept: true });\nconst { cookies } = await cdp("Network.getCookies");',
  },
  [nonEmpty('method'), z.looseObject({}, { error: 'params must be an object' }).nullish(), sessionSchema],
  async (context, method, params, sessionId) => {
    const { scope, policy, about } = context;
    const command = policy.check({ method, params: params ?? {} });
    about({ command: command.method });
    if (typeof sessionId === 'string' && scope.browser.isPrivate(sessionId))
      throw cdpRefused(method, 'there is no such session');
    const session = await sessionOf(context, method, sessionId);
    if (method.startsWith('Input.') && session === scope.browser.attached?.sessionId) {
      let answer: unknown = {};
      await untilDialog(scope, scope.browser.attached!, async () => {
        answer = await scope.request({ sessionId: session }, command.method, command.params);
      });
      return answer;
    }
    return scope.request({ sessionId: session }, command.method, command.params);
  },
);

async function sessionOf(
  { page }: MethodContext,
  method: string,
  given: string | null | undefined,
): Promise<string | undefined> {
  if (typeof given === 'string') return given;
  return given === null || BROWSER_WIDE.test(method) ? undefined : (await page()).sessionId;
}

export const drainEvents = hostMethod(
  {
    name: 'drainEvents',
    namespace: 'browser',
    effect: 'looks',
    signature: 'drainEvents()',
    description:
      'Returns the protocol events since the last call, of all sessions, the newest 500, as `{method, params, sessionId?, time}`; `time` in milliseconds.',
  },
  [],
  async ({ scope }) => {
    await scope.browser.connection(scope.signal);
    return scope.browser.events.drain();
  },
);

export const waitForEvent = hostMethod(
  {
    name: 'waitForEvent',
    namespace: 'browser',
    effect: 'looks',
    signature: 'waitForEvent(method, {sessionId?, timeoutSec = 30, predicate?}?)',
    description:
      'Waits for one protocol event that comes after the call: call it first, act, then await it. Events of the attached page count; `sessionId: null` is for those of the browser. `predicate(event)` chooses among several. Returns the event, or null when none comes in time.',
    example:
      'const loaded = waitForEvent("Page.loadEventFired");\nawait gotoUrl("https://example.com");\nawait loaded;',
  },
  [
    nonEmpty('method'),
    options({
      sessionId: sessionSchema,
      timeoutSec: seconds('timeoutSec', 30),
      // Set by the cell when it asks again because its predicate said no.
      sequence: z.int().optional(),
    }),
  ],
  // Not async: what comes after this very moment counts.
  ({ scope }, method, { sessionId, timeoutSec, sequence }) => {
    const { events, attached } = scope.browser;
    if (sessionId === undefined && attached === undefined) {
      throw helperFailed(
        'waitForEvent',
        'no page is attached; call ensureRealTab() or newTab() first, or give a sessionId',
      );
    }
    return events.next({
      method,
      sessionId: sessionId === undefined ? attached!.sessionId : (sessionId ?? undefined),
      after: sequence ?? events.last,
      ms: Math.min(timeoutSec * 1000, scope.left()),
      signal: scope.signal,
    });
  },
);
