// Waiting: for time, for a document, for an element, for the network. None of these throws when time runs out: the
// answer is false, and whoever waits looks at it.

import { z } from 'zod';
import { targetSchema, type Target } from './elements.ts';
import { callOn, callWithSelector, resolveNode } from './evaluate.ts';
import { isCdpFailure } from './failures.ts';
import { hostMethod, options, seconds } from './method.ts';
import { COUNT, STATE } from './page-scripts.ts';
import { pageSend, poll, waitingFor, type Scope } from './scope.ts';
import type { Attached } from './attached-browser.ts';

const LOAD_POLL_MS = 300;
const ELEMENT_POLL_MS = 100;
const NETWORK_POLL_MS = 50;

export const waitMs = hostMethod(
  {
    name: 'waitMs',
    namespace: 'browser',
    effect: 'looks',
    signature: 'waitMs(ms = 1000)',
    description:
      'Waits so many milliseconds. Waiting for something to be there is better: `waitForElement`, `waitForLoad`.',
  },
  [
    z
      .number({ error: 'ms must be a finite number, 0 or more' })
      .min(0, { error: 'ms must be a finite number, 0 or more' })
      .default(1000),
  ],
  async ({ scope }, ms) => scope.pause(ms),
);

export const waitForLoad = hostMethod(
  {
    name: 'waitForLoad',
    namespace: 'browser',
    effect: 'looks',
    signature: 'waitForLoad(timeoutSec = 15)',
    description:
      'Waits until the document is loaded completely (`document.readyState`). Returns false when it is not in time.',
    example: 'if (!(await waitForLoad())) repl.write("still loading");',
  },
  [seconds('timeoutSec', 15)],
  async ({ scope, page }, timeoutSec) => {
    const on = await page();
    const waiting = waitingFor(scope, timeoutSec);
    const done = await poll(waiting, { everyMs: LOAD_POLL_MS }, async () => {
      try {
        const { result } = await pageSend(waiting, on, 'Runtime.evaluate', { expression: 'document.readyState' });
        return result.value === 'complete' ? true : undefined;
      } catch (error) {
        if (isCdpFailure(error)) return undefined; // between two documents
        throw error;
      }
    });
    return done ?? false;
  },
);

const STATES = ['visible', 'attached', 'detached', 'hidden'] as const;
type ElementState = (typeof STATES)[number];

export const waitForElement = hostMethod(
  {
    name: 'waitForElement',
    namespace: 'browser',
    effect: 'looks',
    signature: "waitForElement(target, {state = 'visible', timeoutSec = 10}?)",
    description:
      'Waits until an element is `visible`, `attached`, `detached` or `hidden`. Every match of a selector counts: one visible match is enough for `visible`, none may be left for `hidden`. Returns false when it does not happen in time; never throws for that.',
    example: 'const shown = await waitForElement(".results li");',
  },
  [
    targetSchema,
    options({
      state: z.enum(STATES, { error: `state must be one of ${STATES.join(', ')}` }).default('visible'),
      timeoutSec: seconds('timeoutSec', 10),
    }),
  ],
  async ({ scope, page }, target, { state, timeoutSec }) => {
    const on = await page();
    const waiting = waitingFor(scope, timeoutSec);
    const done = await poll(waiting, { everyMs: ELEMENT_POLL_MS }, async () => {
      const counts = await countMatches(waiting, on, target);
      return holds(state, counts) ? true : undefined;
    });
    return done ?? false;
  },
);

type Counts = { readonly attached: number; readonly visible: number };

function holds(state: ElementState, { attached, visible }: Counts): boolean {
  switch (state) {
    case 'visible':
      return visible > 0;
    case 'attached':
      return attached > 0;
    case 'detached':
      return attached === 0;
    case 'hidden':
      return visible === 0;
    default:
      return state satisfies never;
  }
}

async function countMatches(scope: Scope, page: Attached, target: Target): Promise<Counts> {
  try {
    if (typeof target === 'string') {
      const call = { helper: 'waitForElement', script: COUNT, selector: target, byValue: true };
      return (await callWithSelector(scope, page, call)).value as Counts;
    }
    const objectId = await resolveNode(scope, page, target.backendNodeId);
    if (objectId === undefined) return { attached: 0, visible: 0 };
    const counts = await callOn<Counts>(scope, page, { objectId, script: STATE });
    return counts;
  } catch (error) {
    if (isCdpFailure(error)) return { attached: 0, visible: 0 }; // the node, or its document, is gone
    throw error;
  }
}

export const waitForNetworkIdle = hostMethod(
  {
    name: 'waitForNetworkIdle',
    namespace: 'browser',
    effect: 'looks',
    signature: 'waitForNetworkIdle(idleSec = 0.5, timeoutSec = 30)',
    description:
      'Waits until the attached page has had no request in flight for `idleSec` seconds, counted from the call at the earliest. Returns false when that does not happen in time.',
  },
  [seconds('idleSec', 0.5), seconds('timeoutSec', 30)],
  async ({ scope, page }, idleSec, timeoutSec) => {
    const on = await page();
    const waiting = scope.within(timeoutSec * 1000);
    const started = waiting.left();
    let quietSince = started;
    let changedAt = scope.browser.state(on.sessionId).networkChangedAt;
    const done = await poll(waiting, { everyMs: NETWORK_POLL_MS }, async () => {
      const { requests, networkChangedAt } = scope.browser.state(on.sessionId);
      if (requests.size > 0 || networkChangedAt !== changedAt) {
        changedAt = networkChangedAt;
        quietSince = waiting.left();
      }
      return quietSince - waiting.left() >= idleSec * 1000 ? true : undefined;
    });
    return done ?? false;
  },
);
