// What a cell may ask of the browser in raw protocol commands. Closed by default: a domain that is not listed is refused,
// so that a new Chromium brings no new hole. The jail is the boundary; this keeps a cell from the host's own browser
// process, its files and its way out. Why each is refused: docs/decisions (the jail) and the comments here.

import { cdpRefused } from './methods/failures.ts';

export type CdpCommand = { readonly method: string; readonly params: Readonly<Record<string, unknown>> };

export interface CdpPolicy {
  /** The command to send instead; throws `cdp-refused`. */
  check(command: CdpCommand): CdpCommand;
  /** Throws `cdp-refused` for addresses that are not the web's. */
  checkUrl(method: string, url: unknown): void;
  /**
   * From now on requests and answers may be held, let go and failed, and no longer written anew (see `REWRITES`), and none is
   * made outside the browser, where its listeners are not told of it.
   */
  readonly refuseRewrites: () => void;
  /** Whether requests are evidence: `refuseRewrites` was called. */
  readonly isRecorded: boolean;
}

export type CdpPolicyOptions = {
  /** Whether a path is inside the session's scratch folder. */
  readonly inScratch: (path: string) => boolean;
};

const DOMAINS: ReadonlySet<string> = new Set(
  (
    'Accessibility Animation Audits Autofill BackgroundService Browser CSS CacheStorage Console DOM DOMDebugger ' +
    'DOMSnapshot DOMStorage Debugger DeviceAccess DeviceOrientation Emulation EventBreakpoints FedCm Fetch HeapProfiler ' +
    'IndexedDB IO Input Inspector LayerTree Log Media Memory Network Overlay Page Performance PerformanceTimeline ' +
    'Preload Profiler Runtime Schema Security ServiceWorker Storage Target Tracing WebAudio WebAuthn WebMCP'
  ).split(' '),
);

const REFUSED: ReadonlyMap<string, string> = new Map([
  ...['Browser.close', 'Browser.crash', 'Browser.crashGpuProcess', 'Page.crash'].map(
    (method) => [method, 'the browser belongs to the session; close tabs with closeTab()'] as const,
  ),
  ['Browser.executeBrowserCommand', 'it acts on the browser itself'],
  ['Browser.getBrowserCommandLine', "how the browser was started is not the page's business"],
  ['Target.exposeDevToolsProtocol', 'it would give pages the protocol'],
  ['Target.setRemoteLocations', 'it connects to other browsers'],
  ['Target.openDevTools', 'there is no window for it'],
  ['Target.getDevToolsTarget', 'there is no window for it'],
  ['Target.sendMessageToTarget', 'use a session id: cdp(method, params, sessionId)'],
  ['Target.attachToBrowserTarget', 'pass null as session id for browser-wide commands'],
  ['Storage.runBounceTrackingMitigations', 'it acts on the browser itself'],
]);

/** Parameters that choose another way out, or files. */
const REFUSED_PARAMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Target.createBrowserContext', ['proxyServer', 'proxyBypassList', 'originsWithUniversalNetworkAccess']],
  ['Tracing.start', ['perfettoConfig', 'tracingBackend']], // a Perfetto configuration can name an output file
]);

/** Commands and the parameter that holds an address. */
const ADDRESSES: ReadonlyMap<string, string> = new Map([
  ['Page.navigate', 'url'],
  ['Target.createTarget', 'url'],
  ['Network.loadNetworkResource', 'url'],
  ['Fetch.continueRequest', 'url'],
  ['Network.continueInterceptedRequest', 'url'],
]);

/**
 * Commands with which a client writes requests or answers anew, behind the back of whoever listens to the network, and the
 * parameters with which they do not. Default: none, since the command has no other use.
 */
const REWRITES: ReadonlyMap<string, readonly string[]> = new Map([
  ['Fetch.continueRequest', ['requestId', 'interceptResponse']],
  ['Fetch.continueResponse', ['requestId']],
  ['Fetch.fulfillRequest', []],
  ['Network.continueInterceptedRequest', ['interceptionId', 'errorReason', 'authChallengeResponse']],
  ['Network.loadNetworkResource', []], // listeners are not told of it
]);

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'data:', 'blob:', 'javascript:']);

export function createCdpPolicy({ inScratch }: CdpPolicyOptions): CdpPolicy {
  const files = (method: string, list: unknown): void => {
    if (!Array.isArray(list)) throw cdpRefused(method, 'files must be an array of paths');
    for (const path of list) {
      if (typeof path !== 'string' || !inScratch(path)) {
        throw cdpRefused(method, `${JSON.stringify(path)} is not in the session's scratch folder`);
      }
    }
  };

  const checkUrl = (method: string, url: unknown): void => {
    if (typeof url !== 'string') throw cdpRefused(method, 'url must be a string');
    if (!isWebAddress(url)) {
      throw cdpRefused(
        method,
        `${JSON.stringify(url.slice(0, 200))} is not an address of the web (http, https, about:blank, data, blob)`,
      );
    }
  };

  let rewrites = true;
  return {
    checkUrl,
    refuseRewrites: () => void (rewrites = false),
    get isRecorded() {
      return !rewrites;
    },
    check({ method, params }) {
      const domain = /^([A-Z][A-Za-z]*)\.[a-z][A-Za-z]*$/.exec(method)?.[1];
      if (domain === undefined) throw cdpRefused(String(method).slice(0, 100), 'a command is named Domain.command');
      if (!DOMAINS.has(domain)) throw cdpRefused(method, `the domain ${domain} is not open to cells`);
      const reason = REFUSED.get(method);
      if (reason !== undefined) throw cdpRefused(method, reason);
      for (const name of REFUSED_PARAMS.get(method) ?? []) {
        if (params[name] !== undefined) throw cdpRefused(method, `the parameter ${name} is not open to cells`);
      }
      if (!rewrites) refuseRewrite({ method, params });
      const address = ADDRESSES.get(method);
      if (address !== undefined && params[address] !== undefined) checkUrl(method, params[address]);
      if (method === 'DOM.setFileInputFiles') files(method, params.files);
      if (method === 'Input.dispatchDragEvent') {
        const dragged = (params.data as { readonly files?: unknown } | null | undefined)?.files;
        if (dragged !== undefined) files(method, dragged);
      }
      if (method === 'Browser.setDownloadBehavior' || method === 'Page.setDownloadBehavior') {
        const saves = params.behavior === 'allow' || params.behavior === 'allowAndName';
        if (saves) files(method, [params.downloadPath]);
        // The browser's own download folder is not a place that the session has.
        else if (params.behavior !== 'deny')
          throw cdpRefused(method, 'behavior must be deny, or allow with a downloadPath');
      }
      return { method, params };
    },
  };
}

function refuseRewrite({ method, params }: CdpCommand): void {
  const kept = REWRITES.get(method);
  if (kept === undefined) return;
  const why = 'the requests of this episode are recorded as evidence';
  if (kept.length === 0) throw cdpRefused(method, `${why}; what goes past the server or the record is not open`);
  const changed = Object.keys(params).filter((name) => params[name] !== undefined && !kept.includes(name));
  if (changed.length > 0) throw cdpRefused(method, `${why}; leave out ${changed.join(', ').slice(0, 200)}`);
}

/** Judged as Chromium reads it: blanks at both ends and control characters do not count, `view-source:` is looked through. */
function isWebAddress(given: string): boolean {
  let url = given.replace(/[\u0000-\u0020]+/g, '');
  while (/^view-source:/i.test(url)) url = url.slice('view-source:'.length);
  if (/^about:(?:blank|srcdoc)(?:[?#]|$)/i.test(url)) return true;
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase();
  if (scheme === undefined || !SCHEMES.has(scheme)) return false;
  return scheme !== 'blob:' || /^blob:(?:https?:|null)/i.test(url);
}
