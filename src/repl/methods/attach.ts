// Attaching to a page and letting go of it; which page helpers act on when nobody has said.

import type { Protocol } from 'devtools-protocol';
import { TabwrightError } from '../../core/index.ts';
import type { Attached } from './attached-browser.ts';
import { helperFailed, isCdpFailure, isCdpTimeout, isPageGone } from './failures.ts';
import { pageSend, type Scope } from './scope.ts';

export type TargetInfo = Protocol.Target.TargetInfo;

const ENABLE_TIMEOUT_MS = 5_000;
const ENABLE_BUDGET_MS = 10_000;
const INTERNAL = /^(?:chrome|chrome-extension|chrome-untrusted|devtools|edge):\/\/|^about:srcdoc/;

export function isInternal(url: string): boolean {
  return INTERNAL.test(url);
}

export async function targets(scope: Scope): Promise<readonly TargetInfo[]> {
  return (await scope.send({ sessionId: undefined }, 'Target.getTargets')).targetInfos;
}

export async function pages(scope: Scope): Promise<readonly TargetInfo[]> {
  return (await targets(scope)).filter(({ type }) => type === 'page');
}

export async function targetInfo(scope: Scope, targetId: string): Promise<TargetInfo> {
  return (await scope.send({ sessionId: undefined }, 'Target.getTargetInfo', { targetId })).targetInfo;
}

/** The attached page; attaches to one if there is none: the first ordinary page, any page, a new one. */
export async function attachedPage(scope: Scope, note: (text: string) => void): Promise<Attached> {
  await scope.browser.connection(scope.signal);
  const { attached, attaching } = scope.browser;
  return attached ?? attaching.run(() => attachToAny(scope, note), scope.signal);
}

async function attachToAny(scope: Scope, note: (text: string) => void): Promise<Attached> {
  if (scope.browser.attached !== undefined) return scope.browser.attached;
  const open = await pages(scope);
  const chosen = open.find(({ url }) => !isInternal(url)) ?? open[0];
  const targetId = chosen?.targetId ?? (await createBlank(scope));
  try {
    return await attachTo(scope, targetId, note);
  } catch (error) {
    // Gone between the list and now: once more.
    if (!isGone(error)) throw error;
    return attachTo(scope, (await pages(scope))[0]?.targetId ?? (await createBlank(scope)), note);
  }
}

function isGone(error: unknown): boolean {
  return (
    isPageGone(error) || (isCdpFailure(error) && (error as Error).message.includes('No target with given id found'))
  );
}

export async function createBlank(scope: Scope): Promise<string> {
  return (await scope.send({ sessionId: undefined }, 'Target.createTarget', { url: 'about:blank' })).targetId;
}

/** Makes `targetId` the attached page; the previous one is let go. */
export async function attach(scope: Scope, targetId: string, note: (text: string) => void): Promise<Attached> {
  await scope.browser.connection(scope.signal);
  return scope.browser.attaching.run(() => attachTo(scope, targetId, note), scope.signal);
}

async function attachTo(scope: Scope, targetId: string, note: (text: string) => void): Promise<Attached> {
  const { browser } = scope;
  const previous = browser.attached;
  if (previous?.targetId === targetId) return previous;
  const { sessionId } = await scope.send({ sessionId: undefined }, 'Target.attachToTarget', {
    targetId,
    flatten: true,
  });
  const page = { targetId, sessionId };
  const state = browser.state(sessionId);
  state.mainFrameId = targetId;
  // Best effort: a frame's target cannot be brought to the front, and works without.
  await optional(
    scope.send({ sessionId: undefined, timeoutMs: ENABLE_TIMEOUT_MS }, 'Target.activateTarget', { targetId }),
  );
  try {
    await enableDomains(scope, page, note);
    if (state.url === '') state.url = (await targetInfo(scope, targetId)).url;
  } catch (error) {
    await detach(scope, page);
    throw error;
  }
  browser.attached = page;
  if (previous !== undefined) await detach(scope, previous);
  return page;
}

export async function detach(scope: Scope, { sessionId }: Attached): Promise<void> {
  await optional(scope.send({ sessionId: undefined }, 'Target.detachFromTarget', { sessionId }));
}

async function enableDomains(scope: Scope, page: Attached, note: (text: string) => void): Promise<void> {
  const budget = scope.within(ENABLE_BUDGET_MS);
  const enable = (domain: 'Page' | 'DOM' | 'Runtime' | 'Network'): Promise<void> =>
    budget.send({ sessionId: page.sessionId, timeoutMs: ENABLE_TIMEOUT_MS }, `${domain}.enable`);
  const results = await Promise.allSettled((['Page', 'DOM', 'Runtime', 'Network'] as const).map(enable));
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
  const failure = failures.find((error) => !isCdpTimeout(error));
  if (failure !== undefined) throw failure;
  if (failures.length === 0) return;
  // The renderer does not answer: an open dialog holds it, or a script does.
  const accepted = await optional(pageSend(scope, page, 'Page.handleJavaScriptDialog', { accept: true }));
  note(
    accepted
      ? 'browser: a dialog that was open when the page was attached has been accepted\n'
      : 'browser: the page that was attached does not answer; it may be busy or show a dialog\n',
  );
}

/** True when the command was carried out, false when Chromium refused it or was silent; other failures are thrown. */
async function optional(command: Promise<unknown>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch (error) {
    if (isCdpFailure(error) || isCdpTimeout(error) || isPageGone(error)) return false;
    throw error;
  }
}

/** Runs `work` on a target's own session: the attached one, or one that is attached for as long as it takes. */
export async function onTarget<T>(scope: Scope, targetId: string, work: (page: Attached) => Promise<T>): Promise<T> {
  const { attached } = scope.browser;
  if (attached?.targetId === targetId) return work(attached);
  const connection = await scope.browser.connection(scope.signal);
  let sessionId: string;
  try {
    sessionId = await scope.browser.attachPrivately(connection, targetId);
  } catch (error) {
    if (!(error instanceof TabwrightError && error.code === 'protocol-error')) throw error;
    throw helperFailed('browser', `there is no target ${targetId}`, error);
  }
  const page = { targetId, sessionId };
  try {
    return await work(page);
  } finally {
    await detach(scope, page);
  }
}

/** The page that a frame's target is in; the target itself if it is a page. */
export function topPage(all: readonly TargetInfo[], target: TargetInfo): TargetInfo {
  let at = target;
  for (let steps = 0; at.type === 'iframe' && steps < all.length; steps++) {
    const parent = all.find(({ targetId }) => targetId === at.parentId);
    if (parent === undefined) break;
    at = parent;
  }
  return at;
}
