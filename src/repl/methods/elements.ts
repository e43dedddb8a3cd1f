// Which element a helper means, and when it can be acted on: it alone is visible among those that match, it is enabled,
// it stands still, and nothing covers it. Until then it is asked again; what keeps it from being ready is the error.

import { z } from 'zod';
import type { Attached } from './attached-browser.ts';
import { callOn, callWithSelector, resolveNode } from './evaluate.ts';
import { helperFailed, isCdpFailure, isCdpTimeout } from './failures.ts';
import { PICK, READY } from './page-scripts.ts';
import { pageSend, poll, refuseWhileDialog, waitingFor, type Scope } from './scope.ts';

export type Target = string | { readonly backendNodeId: number };

const TARGET_ERROR = 'target must be a CSS selector, an accessibility node or {backendNodeId}';

const error = TARGET_ERROR;
export const targetSchema = z.union(
  [z.string().min(1, { error }), z.looseObject({ backendNodeId: z.int({ error }).positive({ error }) })],
  { error },
);

export function describeTarget(target: Target): string {
  return typeof target === 'string' ? JSON.stringify(target) : `node ${target.backendNodeId}`;
}

/** An element that can be acted on. `x` and `y`: where, in CSS pixels of the target's viewport. */
export type ReadyElement = { readonly objectId: string; readonly x: number; readonly y: number };

type Readiness = {
  readonly status:
    'ready' | 'not found' | 'not visible' | 'disabled' | 'not editable' | 'moving' | 'outside viewport' | 'intercepted';
  readonly x: number;
  readonly y: number;
  readonly left: number;
  readonly top: number;
};

const POLL_MS = 50;

export type ReadyOptions = {
  readonly helper: string;
  readonly target: Target;
  readonly timeoutSec: number;
  readonly editable: boolean;
};

export async function readyElement(scope: Scope, page: Attached, options: ReadyOptions): Promise<ReadyElement> {
  const { helper, target, timeoutSec } = options;
  refuseWhileDialog(scope, page);
  const waiting = waitingFor(scope, timeoutSec);
  const end = performance.now() + timeoutSec * 1000;
  let status: string | undefined;
  let found: ReadyElement | undefined;
  try {
    found = await poll(waiting, { everyMs: POLL_MS }, async () => {
      const result = await attempt(waiting, page, options);
      if (typeof result !== 'string') return result;
      status = result;
      return undefined;
    });
  } catch (error) {
    // The last look is cut short by the end of the wait; what the looks before it saw says more.
    if (status === undefined || !isCdpTimeout(error) || performance.now() < end) throw error;
  }
  if (found !== undefined) return found;
  const why = status ?? 'the page does not answer';
  throw helperFailed(helper, `${describeTarget(target)} was not ready within ${timeoutSec}s: ${why}`);
}

/** The ready element, or why there is none yet. */
async function attempt(
  scope: Scope,
  page: Attached,
  { helper, target, editable }: ReadyOptions,
): Promise<ReadyElement | string> {
  try {
    const objectId =
      typeof target === 'string'
        ? await pickVisible(scope, page, helper, target)
        : await resolveNode(scope, page, target.backendNodeId);
    if (objectId === undefined) return 'not found';
    if (objectId === NOT_VISIBLE) return objectId;
    const ready = await callOn<Readiness>(scope, page, { objectId, script: READY, argument: editable });
    if (ready.status !== 'ready') {
      return ready.status;
    }
    if (typeof target === 'string') return { objectId, x: ready.x, y: ready.y };
    return await inViewport(scope, page, objectId, ready);
  } catch (error) {
    // The page went on to another document, or the node left it, between two commands.
    if (isCdpFailure(error)) return 'not found';
    throw error;
  }
}

const NOT_VISIBLE = 'not visible';

async function pickVisible(
  scope: Scope,
  page: Attached,
  helper: string,
  selector: string,
): Promise<string | undefined> {
  const picked = await callWithSelector(scope, page, { helper, script: PICK, selector, byValue: false });
  if (picked.objectId !== undefined) return picked.objectId;
  const visible = picked.value as number;
  if (visible > 1) {
    throw helperFailed(
      helper,
      `${JSON.stringify(selector)} matches ${visible} visible elements; use a selector that matches one, or a backendNodeId`,
    );
  }
  return visible === -1 ? undefined : NOT_VISIBLE;
}

/** From the coordinates of the node's frame to those of the target: frames inside the page have an offset. */
async function inViewport(
  scope: Scope,
  page: Attached,
  objectId: string,
  ready: Readiness,
): Promise<ReadyElement | string> {
  const { quads } = await pageSend(scope, page, 'DOM.getContentQuads', { objectId });
  const corners = quads.flatMap((quad) => [0, 2, 4, 6].map((at) => ({ x: quad[at], y: quad[at + 1] })));
  const dx = Math.min(...corners.map(({ x }) => x)) - ready.left;
  const dy = Math.min(...corners.map(({ y }) => y)) - ready.top;
  const at = { objectId, x: ready.x + dx, y: ready.y + dy };
  if (Math.abs(dx) < 1 && Math.abs(dy) < 1) return { objectId, x: ready.x, y: ready.y };
  // In a frame. Nothing of the page around it may lie over it there.
  const [hit, frames] = [await nodeAt(scope, page, at), page.targetId];
  return hit?.frameId === undefined || hit.frameId === frames ? 'intercepted' : at;
}

/** What is at a point of the viewport. */
export async function nodeAt(
  scope: Scope,
  page: Attached,
  { x, y }: { readonly x: number; readonly y: number },
): Promise<{ readonly backendNodeId: number; readonly frameId: string } | undefined> {
  const { cssVisualViewport } = await pageSend(scope, page, 'Page.getLayoutMetrics');
  try {
    return await pageSend(scope, page, 'DOM.getNodeForLocation', {
      x: Math.round(x + cssVisualViewport.pageX),
      y: Math.round(y + cssVisualViewport.pageY),
    });
  } catch (error) {
    if (isCdpFailure(error)) return undefined; // nothing there
    throw error;
  }
}

/** A look for the action log takes no longer than this, milliseconds: the action itself does not wait for a busy page. */
const LOOK_MS = 500;

type RoleAndName = { readonly role: string; readonly name: string };

/** Role and name of a node as assistive technology has them: what the action log calls it. */
export async function describeNode(
  whole: Scope,
  page: Attached,
  node: { readonly objectId: string } | { readonly backendNodeId: number },
): Promise<RoleAndName | undefined> {
  const scope = whole.within(LOOK_MS);
  try {
    const { nodes } = await pageSend(scope, page, 'Accessibility.getPartialAXTree', { ...node, fetchRelatives: false });
    const found = nodes[0];
    if (found === undefined) return undefined;
    const role = (found.role?.value as string | undefined) ?? 'none';
    const name = String((found.name?.value as string | undefined) ?? '');
    return { role, name: name.replace(/\s+/gu, ' ').trim() };
  } catch (error) {
    if (isCdpFailure(error) || isCdpTimeout(error)) return undefined; // it left the page meanwhile, or the page is busy
    throw error;
  }
}

/** The same of what is at a point. */
export async function describePoint(
  scope: Scope,
  page: Attached,
  point: { readonly x: number; readonly y: number },
): Promise<RoleAndName | undefined> {
  try {
    const hit = await nodeAt(scope.within(LOOK_MS), page, point);
    return hit === undefined ? undefined : await describeNode(scope, page, { backendNodeId: hit.backendNodeId });
  } catch (error) {
    if (isCdpTimeout(error)) return undefined;
    throw error;
  }
}
