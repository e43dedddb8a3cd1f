// The mouse: clicking elements when they can be clicked, clicking points at once, and the wheel.

import { z } from 'zod';
import type { Attached } from './attached-browser.ts';
import { describeNode, describePoint, readyElement, targetSchema, type Target } from './elements.ts';
import { helperFailed } from './failures.ts';
import { anySeconds, finite, hostMethod, options } from './method.ts';
import { pageSend, untilDialog, type Scope } from './scope.ts';

const CLICK_TIMEOUT_SEC = 10;
const SCROLL_TIMEOUT_MS = 5_000;

const pointSchema = z.looseObject({ x: z.number(), y: z.number() });
type Point = z.infer<typeof pointSchema>;

const clickOptions = options({
  button: z.enum(['left', 'right', 'middle'], { error: 'button must be "left", "right" or "middle"' }).default('left'),
  clickCount: z
    .int({ error: 'clickCount must be a positive integer' })
    .positive({ error: 'clickCount must be a positive integer' })
    .default(1),
  timeoutSec: anySeconds('timeoutSec').optional(),
});

export const click = hostMethod(
  {
    name: 'click',
    namespace: 'browser',
    effect: 'acts',
    signature: "click(target | {x, y}, {button = 'left', clickCount = 1, timeoutSec = 10}?)",
    description:
      'Clicks a CSS selector, an accessibility node or `{backendNodeId}`; or, at once, a point of the viewport `{x, y}`. An element is waited for until it is visible, enabled, standing still and not covered, and is scrolled to. ' +
      'Hidden matches of a selector do not count; several visible ones throw at once. `button` is left, right or middle. A navigation that follows is not waited for.',
    example: 'await click("button[type=submit]");\nawait click({ backendNodeId: node.backendNodeId });',
  },
  [
    z.union([targetSchema, pointSchema], {
      error: 'target must be a CSS selector, an accessibility node, {backendNodeId} or finite {x, y}',
    }),
    clickOptions,
  ],
  async ({ scope, page, about }, target, { button, clickCount, timeoutSec }) => {
    const on = await page();
    if (isPoint(target)) {
      if (timeoutSec !== undefined)
        throw helperFailed('click', 'timeoutSec is for elements; coordinates are clicked at once');
      const { x, y } = target;
      const element = await describePoint(scope, on, target);
      about({ point: { x, y }, ...(element === undefined ? {} : { element }) });
      await press(scope, on, target, { button, clickCount });
      return;
    }
    const ready = await readyElement(scope, on, {
      helper: 'click',
      target,
      timeoutSec: timeoutSec ?? CLICK_TIMEOUT_SEC,
      editable: false,
    });
    const element = await describeNode(scope, on, { objectId: ready.objectId });
    if (element !== undefined) about({ element });
    await press(scope, on, ready, { button, clickCount });
  },
);

function isPoint(target: Target | Point): target is Point {
  return typeof target !== 'string' && !('backendNodeId' in target);
}

type Press = { readonly button: 'left' | 'right' | 'middle'; readonly clickCount: number };

async function press(
  scope: Scope,
  page: Attached,
  { x, y }: { readonly x: number; readonly y: number },
  how: Press,
): Promise<void> {
  const mouse = (type: 'mouseMoved' | 'mousePressed' | 'mouseReleased', more: object = {}): Promise<void> =>
    pageSend(scope, page, 'Input.dispatchMouseEvent', { type, x, y, ...more });
  await untilDialog(scope, page, () => {
    const events = [mouse('mouseMoved')];
    for (let clickCount = 1; clickCount <= how.clickCount; clickCount++) {
      for (const type of ['mousePressed', 'mouseReleased'] as const)
        events.push(mouse(type, { button: how.button, clickCount }));
    }
    return Promise.all(events);
  });
}

export const scroll = hostMethod(
  {
    name: 'scroll',
    namespace: 'browser',
    effect: 'acts',
    signature: 'scroll(x, y, dy = -300, dx = 0)',
    description:
      'Turns the mouse wheel once over a point of the viewport, by pixels. A positive `dy` scrolls down; the default scrolls up. Nothing is tried again.',
    example: 'await scroll(400, 300, 600);',
  },
  [finite('x'), finite('y'), finite('dy').default(-300), finite('dx').default(0)],
  async ({ scope, page, about }, x, y, deltaY, deltaX) => {
    about({ point: { x, y } });
    const on = await page();
    await scope.send({ sessionId: on.sessionId, timeoutMs: SCROLL_TIMEOUT_MS }, 'Input.dispatchMouseEvent', {
      type: 'mouseWheel',
      x,
      y,
      deltaX,
      deltaY,
    });
  },
);
