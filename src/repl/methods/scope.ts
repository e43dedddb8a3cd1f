// What one call of a helper works with: the browser, and the time it has. Every wait and every protocol command ends
// 500 ms before the cell's deadline, so that a helper fails with a sentence before the cell is killed without one.

import { TabwrightError } from '../../core/index.ts';
import { abortable, sleep, withDeadline } from '../../util/index.ts';
import type { CdpMethod, CdpParams, CdpResult } from '../../browser/index.ts';
import type { Attached, AttachedBrowser } from './attached-browser.ts';
import { cdpFailed, cdpTimedOut, dialogOpen, isCdpTimeout, outcomeUnknown } from './failures.ts';

export const COMMAND_TIMEOUT_MS = 30_000;
const CELL_MARGIN_MS = 500;

export type SendOptions = {
  /** `undefined` is the browser's own session. */
  readonly sessionId: string | undefined;
  /** Milliseconds; default 30000. */
  readonly timeoutMs?: number;
};

export interface Scope {
  readonly browser: AttachedBrowser;
  readonly signal: AbortSignal;
  /** Milliseconds that are left. */
  left(): number;
  /** The same with less time. */
  within(ms: number): Scope;
  /** A command; fails with the texts of `failures.ts`. */
  send<M extends CdpMethod>(options: SendOptions, method: M, ...params: CdpParams<M>): Promise<CdpResult<M>>;
  /** A command of which only the name is known. */
  request(options: SendOptions, method: string, params: object): Promise<unknown>;
  pause(ms: number): Promise<void>;
}

export type ScopeOptions = {
  readonly browser: AttachedBrowser;
  readonly signal: AbortSignal;
  /** Milliseconds until the cell's deadline. */
  readonly deadlineMs: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
};

export function createScope({ browser, signal, deadlineMs, now }: ScopeOptions): Scope {
  return scopeUntil(now() + Math.max(0, deadlineMs - CELL_MARGIN_MS));

  function scopeUntil(end: number): Scope {
    const left = (): number => Math.max(0, end - now());
    const scope: Scope = {
      browser,
      signal,
      left,
      within: (ms) => scopeUntil(Math.min(end, now() + ms)),
      send: <M extends CdpMethod>(options: SendOptions, method: M, ...params: CdpParams<M>) =>
        scope.request(options, method, params[0] ?? {}) as Promise<CdpResult<M>>,
      async request({ sessionId, timeoutMs = COMMAND_TIMEOUT_MS }, method, params) {
        for (let isFirst = true; ; isFirst = false) {
          const ms = Math.ceil(Math.min(timeoutMs, left()));
          const onExpiry = (): Error => cdpTimedOut(method, ms, sessionId !== undefined);
          const connection = await abortable(browser.connection(signal), signal);
          if (ms === 0) throw onExpiry();
          try {
            const answer = await withDeadline({ ms, signal, onExpiry }, () =>
              connection.request(method, params, sessionId),
            );
            browser.answered.add(connection);
            return answer;
          } catch (error) {
            if (hasCode(error, 'protocol-error')) browser.answered.add(connection);
            const again =
              isFirst &&
              hasCode(error, 'browser-closed') &&
              sessionId === undefined && // a session ends with its connection
              OBSERVING.has(method) &&
              !browser.answered.has(connection);
            if (!again || left() <= RECONNECT_MS) throw translated(method, error);
          }
          await sleep(RECONNECT_MS, signal);
        }
      },
      pause: (ms) => sleep(Math.min(ms, left()), signal),
    };
    return scope;
  }
}

/**
 * Commands that change nothing: asked once more, over another connection, where the first one broke before it had
 * answered anything. Whatever may have an effect is sent at most once.
 */
const OBSERVING: ReadonlySet<string> = new Set([
  ...['Target.getTargets', 'Target.getTargetInfo', 'Target.getBrowserContexts'],
  ...['Browser.getVersion', 'Browser.getWindowForTarget', 'Browser.getWindowBounds'],
  ...['Storage.getCookies', 'Storage.getUsageAndQuota', 'Storage.getStorageKeyForFrame'],
]);
const RECONNECT_MS = 150;

function hasCode(error: unknown, code: string): boolean {
  return error instanceof TabwrightError && error.code === code;
}

function translated(method: string, error: unknown): unknown {
  if (!(error instanceof TabwrightError)) return error;
  if (error.code === 'browser-closed') return outcomeUnknown(method, error);
  if (error.code !== 'protocol-error') return error;
  return cdpFailed(method, error.details.protocolCode as number, error.details.protocolMessage as string);
}

export type PollOptions = { readonly everyMs: number };

/**
 * Asks `attempt` until it gives something or the scope's time is up; undefined then. A command that ran out of the
 * scope's time is that end as well.
 */
export async function poll<T>(
  scope: Scope,
  { everyMs }: PollOptions,
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (;;) {
    try {
      const found = await attempt();
      if (found !== undefined) return found;
    } catch (error) {
      if (!isCdpTimeout(error) || scope.left() > 0) throw error;
    }
    if (scope.left() === 0) return undefined;
    await scope.pause(everyMs);
  }
}

/** A look at the page takes a moment, also when nobody wants to wait for it. Milliseconds. */
const ONE_LOOK_MS = 250;

/** The time of a wait for the page, in which it is looked at once at least. */
export function waitingFor(scope: Scope, timeoutSec: number): Scope {
  return scope.within(Math.max(timeoutSec * 1000, ONE_LOOK_MS));
}

/** A command on the attached page; for helpers that have one. */
export function pageSend<M extends CdpMethod>(
  scope: Scope,
  page: Attached,
  method: M,
  ...params: CdpParams<M>
): Promise<CdpResult<M>> {
  return scope.send({ sessionId: page.sessionId }, method, ...params);
}

/** With a dialog open the page answers nothing: said at once, not after a wait. */
export function refuseWhileDialog(scope: Scope, page: Attached): void {
  const { dialog } = scope.browser.state(page.sessionId);
  if (dialog !== undefined) throw dialogOpen(dialog);
}

/**
 * Input that may open a dialog: Chromium does not answer it until the dialog is closed, and a cell has to be able to
 * do that. Settles when the input is done or a dialog is up; a page that closes itself on the way is done too.
 */
export async function untilDialog(scope: Scope, page: Attached, input: () => Promise<unknown>): Promise<void> {
  refuseWhileDialog(scope, page);
  let off = (): void => undefined;
  const dialog = new Promise<void>((resolve) => {
    off = scope.browser.onEvent(({ method, sessionId }) => {
      if (method === 'Page.javascriptDialogOpening' && sessionId === page.sessionId) resolve();
    });
  });
  const done = input();
  try {
    await Promise.race([done, dialog]);
  } catch (error) {
    if (!(error instanceof TabwrightError && error.code === 'page-closed')) throw error;
  } finally {
    off();
    done.catch(() => undefined); // what is left of it is the dialog's business
  }
}
