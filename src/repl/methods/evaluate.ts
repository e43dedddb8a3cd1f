// Evaluation in a page: of model-written code in the page's own world, and of the helpers' code in a world apart.

import type { Protocol } from 'devtools-protocol';
import type { Attached } from './attached-browser.ts';
import { helperFailed, pageThrew } from './failures.ts';
import { pageSend, type Scope } from './scope.ts';

export type RemoteObject = Protocol.Runtime.RemoteObject;
type Details = Protocol.Runtime.ExceptionDetails;

/** Handles that helpers hold; let go together when the cell has ended. */
export const HANDLES = 'tabwright';

/** Evaluates once, awaits what it gives, and returns it by value; `undefined` for what has none (nodes, functions, symbols). */
export async function evaluate(scope: Scope, page: Attached, expression: string): Promise<unknown> {
  const { result, exceptionDetails } = await pageSend(scope, page, 'Runtime.evaluate', {
    expression,
    awaitPromise: true,
    objectGroup: HANDLES,
    userGesture: true,
  });
  if (exceptionDetails !== undefined) throw pageThrew(describeException(exceptionDetails));
  if (result.objectId === undefined) return primitive(result);
  if (result.subtype === 'node' || result.type !== 'object') return undefined;
  const copy = await pageSend(scope, page, 'Runtime.callFunctionOn', {
    objectId: result.objectId,
    functionDeclaration: 'function () { return this; }',
    returnByValue: true,
  });
  return copy.result.value as unknown;
}

function primitive({ type, value, unserializableValue }: RemoteObject): unknown {
  if (unserializableValue === undefined) return type === 'undefined' ? undefined : (value as unknown);
  if (type === 'bigint') return BigInt(unserializableValue.slice(0, -1));
  return Number(unserializableValue);
}

export function describeException({ exception, text }: Details): string {
  if (exception?.description !== undefined) return exception.description;
  return exception?.value === undefined ? text : `${text} ${String(exception.value)}`;
}

/** The context of the helpers' own world in the page's main frame; Chromium gives the same one until the page navigates. */
async function helperWorld(scope: Scope, page: Attached): Promise<number> {
  const { executionContextId } = await pageSend(scope, page, 'Page.createIsolatedWorld', {
    frameId: page.targetId,
    worldName: 'tabwright',
  });
  return executionContextId;
}

/** Calls a helper's function of one selector, by value or for a handle. An invalid selector is the caller's error. */
export async function callWithSelector(
  scope: Scope,
  page: Attached,
  call: { readonly helper: string; readonly script: string; readonly selector: string; readonly byValue: boolean },
): Promise<RemoteObject> {
  const { result, exceptionDetails } = await pageSend(scope, page, 'Runtime.evaluate', {
    expression: `(${call.script})(${JSON.stringify(call.selector)})`,
    contextId: await helperWorld(scope, page),
    returnByValue: call.byValue,
    objectGroup: HANDLES,
  });
  if (exceptionDetails !== undefined) throw helperFailed(call.helper, describeException(exceptionDetails));
  return result;
}

/** A handle of a node, in the world of its own frame; undefined when the node is gone. */
export async function resolveNode(scope: Scope, page: Attached, backendNodeId: number): Promise<string | undefined> {
  const world = await helperWorld(scope, page);
  const inWorld = await pageSend(scope, page, 'DOM.resolveNode', {
    backendNodeId,
    executionContextId: world,
    objectGroup: HANDLES,
  });
  if (inWorld.object.objectId !== undefined) return inWorld.object.objectId;
  // A node of another origin's frame exists in the worlds of that frame alone.
  const own = await pageSend(scope, page, 'DOM.resolveNode', { backendNodeId, objectGroup: HANDLES });
  return own.object.objectId;
}

export async function callOn<T>(
  scope: Scope,
  page: Attached,
  call: { readonly objectId: string; readonly script: string; readonly argument?: unknown },
): Promise<T> {
  const { result, exceptionDetails } = await pageSend(scope, page, 'Runtime.callFunctionOn', {
    objectId: call.objectId,
    functionDeclaration: call.script,
    arguments: [{ value: call.argument ?? null }],
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails !== undefined) throw helperFailed('browser', describeException(exceptionDetails));
  return result.value as T;
}
