// What a cell can ask of its host: every method that needs the browser, over one connection to it. The host decides what
// is let through, keeps the time, and writes down what was done.

import { TabwrightError } from '../core/index.ts';
import type { CdpConnection } from '../browser/index.ts';
import { createActionLog, type ActionLog } from './action-log.ts';
import type { HostCallContext, HostCalls } from './cell-calls.ts';
import { createCdpPolicy } from './cdp-policy.ts';
import { hostTab, type HostTab } from './host-tab.ts';
import { HOST_METHODS } from './method-registry.ts';
import { connectRaw } from './raw-connection.ts';
import { attachedPage } from './methods/attach.ts';
import { createAttachedBrowser } from './methods/attached-browser.ts';
import { HANDLES } from './methods/evaluate.ts';
import type { HttpGet } from './methods/http-client.ts';
import { qualifiedName } from './methods/method.ts';
import { hostScreenshot } from './methods/host-screenshot.ts';
import { createScope } from './methods/scope.ts';
import { createScratch, type ScratchOptions } from './methods/scratch.ts';
import { createWebMcp } from './methods/webmcp-tools.ts';
import { decodeValue, encodeValue } from './wire-values.ts';

export type { HostCallContext, HostCalls };

/** The calls of a browser, and what only the host may do with it. */
export interface BrowserCalls extends HostCalls {
  readonly log: ActionLog;
  /** From now on the cells cannot write requests and answers anew. */
  readonly refuseRewrites: () => void;
  /** The runtime that asked is gone, and with it the functions of the tools that it added. */
  runtimeEnded(): void;
  /** PNG of the page that was acted on last, taken on a session of the host's own; for judges. Undefined when the page does not answer. */
  screenshot(options: { readonly signal: AbortSignal; readonly deadlineMs: number }): Promise<Uint8Array | undefined>;
  /** The page that was acted on last, for a look of the host's own. Undefined when there is none. */
  tab(options: { readonly signal: AbortSignal; readonly deadlineMs: number }): Promise<HostTab | undefined>;
}

export type HostCallsOptions = {
  /** Connects to the browser that is there now; asked again when the connection was lost. */
  readonly connect: (signal: AbortSignal) => Promise<CdpConnection>;
  readonly scratch: ScratchOptions;
  /** How `httpGet` gets out; without it, it is switched off. */
  readonly httpGet?: HttpGet;
  /** Opt-in extensions; default none, so that what is learnt here holds elsewhere. */
  readonly extensions?: { readonly snapshot?: boolean };
  /** Takes text for the cell's stderr. */
  readonly note?: (text: string) => void;
  /** Wall clock, milliseconds; default `Date.now`. */
  readonly now?: () => number;
  /** Monotonic clock, milliseconds; default `performance.now`. */
  readonly monotonic?: () => number;
};

const METHODS = new Map(HOST_METHODS.map((method) => [qualifiedName(method), method]));

export function createHostCalls(options: HostCallsOptions): BrowserCalls {
  const { connect, httpGet, extensions, note = () => undefined } = options;
  const monotonic = options.monotonic ?? (() => performance.now());
  const browser = createAttachedBrowser({ connect, now: options.now ?? Date.now });
  const scratch = createScratch(options.scratch);
  const policy = createCdpPolicy({ inScratch: scratch.contains });
  const webmcp = createWebMcp(browser);
  const log = createActionLog();
  const currentUrl = (): string =>
    browser.attached === undefined ? '' : browser.state(browser.attached.sessionId).url;
  /** The page that a client of `CDP_ENDPOINT` acted on, until a helper acts. */
  let actedOn: string | undefined;
  browser.onAddress((sessionId, url) => {
    if (sessionId === browser.attached?.sessionId) log.navigated(url);
  });

  return {
    log,
    connectRaw: (client) =>
      connectRaw({
        browser,
        policy,
        scratch,
        log,
        currentUrl,
        client,
        onAct: (targetId) => (actedOn = targetId ?? actedOn),
      }),
    async call(name, params, { cell, deadlineMs, signal }) {
      const method = METHODS.get(name);
      if (method === undefined) {
        throw new TabwrightError('browser', `there is no method ${name}`, {
          code: 'unknown-method',
          details: { method: name },
        });
      }
      const run = method.prepare(params.map(decodeValue));
      const scope = createScope({ browser, signal, deadlineMs, now: monotonic });
      if (method.effect === 'acts') actedOn = undefined;
      const action = log.begin({ cell, helper: name, effect: method.effect, url: currentUrl() });
      try {
        const result = await run({
          scope,
          scratch,
          policy,
          httpGet,
          webmcp,
          snapshotExtensions: extensions?.snapshot ?? false,
          note,
          page: () => attachedPage(scope, note),
          about: action.about,
        });
        const encoded = encodeValue(result);
        action.end('done', currentUrl());
        return encoded;
      } catch (error) {
        action.end('failed', currentUrl());
        throw error;
      }
    },
    refuseRewrites: policy.refuseRewrites,
    runtimeEnded: () => webmcp.custom.clear(),
    cellEnded() {
      browser.releaseHandles(HANDLES);
    },
    async screenshot({ signal, deadlineMs }) {
      const target = browser.attached;
      const scope = createScope({ browser, signal, deadlineMs, now: monotonic });
      if (actedOn !== undefined && actedOn !== target?.targetId) return hostScreenshot(scope, actedOn);
      // A page with a dialog draws nothing until that is answered.
      if (target === undefined || browser.state(target.sessionId).dialog !== undefined) return undefined;
      return hostScreenshot(scope, target.targetId);
    },
    tab: ({ signal, deadlineMs }) =>
      hostTab(createScope({ browser, signal, deadlineMs, now: monotonic }), actedOn ?? browser.attached?.targetId),
  };
}
