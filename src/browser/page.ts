// One page: load, read, click, photograph. Every operation has a deadline; one that is cut short leaves the page in
// an unknown state, so the page is unusable from then on and its owner opens another.
// Not covered: frames inside the page (iframes), dialogs, other windows.

import type { Protocol } from 'devtools-protocol';
import { TabwrightError, type JsonValue } from '../core/index.ts';
import { withDeadline } from '../util/index.ts';
import type { CdpSession } from './cdp.ts';
import { navigationFailed, navigationTimeout, operationTimeout, pageClosed, scriptFailed } from './failures.ts';
import type { Frames } from './frames.ts';

export type AxNode = Protocol.Accessibility.AXNode;

export type PageCallOptions = {
  readonly signal: AbortSignal;
  /** Milliseconds; default 60000 for `navigate`, 10000 for the rest. */
  readonly deadlineMs?: number;
};

/** `missing`: the element is no longer in the page, or takes no space in it. */
export type ClickResult = 'clicked' | 'missing';

export interface Page extends AsyncDisposable {
  /** False after a cut-short operation or a crash. */
  readonly usable: boolean;
  /** Resolves when the load event has fired. */
  navigate(url: string, options: PageCallOptions): Promise<void>;
  /** Value of a JavaScript expression; a promise is awaited. Throws `script-failed` if it throws. */
  evaluate(expression: string, options: PageCallOptions): Promise<JsonValue>;
  /** The accessibility tree, flat, root first. */
  accessibilityTree(options: PageCallOptions): Promise<readonly AxNode[]>;
  /** Scrolls the element into view and clicks its centre with trusted mouse events, as a person's hand would. */
  click(backendNodeId: number, options: PageCallOptions): Promise<ClickResult>;
  /** PNG of the viewport. */
  screenshot(options: PageCallOptions): Promise<Uint8Array>;
  /** Calls of the protocol that need no frame to be answered, such as those that read, under the page's rules. */
  read<T>(name: string, work: (session: CdpSession) => Promise<T>, options: PageCallOptions): Promise<T>;
  /** Calls of the protocol for what the rest does not cover, under the page's rules; given frames until they settle. */
  perform<T>(name: string, work: (session: CdpSession) => Promise<T>, options: PageCallOptions): Promise<T>;
}

export type PageParts = {
  readonly session: CdpSession;
  readonly frames: Frames;
  /** Whether the browser is still there. */
  readonly connected: () => boolean;
  /** Closes the target. */
  readonly end: () => void;
};

export function createPage({ session, frames, connected, end }: PageParts): Page {
  let usable = true;
  session.on('Inspector.targetCrashed', () => (usable = false));

  const operate = async <T>(
    name: string,
    { signal, deadlineMs = 10_000 }: PageCallOptions,
    work: () => Promise<T>,
    onExpiry: () => Error = () => operationTimeout(name, deadlineMs),
  ): Promise<T> => {
    if (!usable) throw pageClosed(name);
    try {
      return await withDeadline({ ms: deadlineMs, signal, onExpiry }, work);
    } catch (error) {
      usable = false;
      throw error;
    }
  };

  return {
    get usable() {
      return usable && connected();
    },
    navigate: (url, options) => {
      const deadlineMs = options.deadlineMs ?? 60_000;
      const load = async (): Promise<void> => {
        const { promise, stop, expect } = loadEventOf(session);
        try {
          const { errorText, loaderId } = await session.send('Page.navigate', { url });
          if (errorText !== undefined) throw navigationFailed(url, errorText);
          if (loaderId === undefined) return; // same document: nothing is loaded
          expect(loaderId);
          await promise;
        } finally {
          stop();
        }
      };
      return operate(
        'navigate',
        { ...options, deadlineMs },
        () => frames.during(session, load()),
        () => navigationTimeout(url, deadlineMs),
      );
    },
    evaluate: async (expression, options) => {
      const call = { expression, returnByValue: true, awaitPromise: true };
      const { result, exceptionDetails } = await operate('evaluate', options, () =>
        session.send('Runtime.evaluate', call),
      );
      if (exceptionDetails !== undefined) {
        throw scriptFailed(exceptionDetails.exception?.description ?? exceptionDetails.text);
      }
      return (result.value ?? null) as JsonValue;
    },
    accessibilityTree: async (options) =>
      (await operate('accessibilityTree', options, () => session.send('Accessibility.getFullAXTree'))).nodes,
    click: (backendNodeId, options) =>
      operate('click', options, async () => {
        const centre = await locate(session, backendNodeId);
        if (centre === undefined) return 'missing';
        const mouse = (type: 'mouseMoved' | 'mousePressed' | 'mouseReleased'): Promise<void> =>
          session.send('Input.dispatchMouseEvent', {
            type,
            ...centre,
            ...(type === 'mouseMoved' ? {} : { button: 'left', clickCount: 1 }),
          });
        const hand = Promise.all([mouse('mouseMoved'), mouse('mousePressed'), mouse('mouseReleased')]);
        await frames.during(session, hand);
        return 'clicked';
      }),
    screenshot: (options) => operate('screenshot', options, () => frames.picture(session)),
    read: (name, work, options) => operate(name, options, () => work(session)),
    perform: (name, work, options) => operate(name, options, () => frames.during(session, work(session))),
    async [Symbol.asyncDispose]() {
      usable = false;
      end();
    },
  };
}

/** The load event of one document, told apart from that of the page's previous one. */
function loadEventOf(session: CdpSession): { promise: Promise<void>; stop: () => void; expect: (id: string) => void } {
  const seen = new Set<string>();
  let expected: string | undefined;
  let resolve: () => void;
  const promise = new Promise<void>((done) => (resolve = done));
  const stop = session.on('Page.lifecycleEvent', ({ name, loaderId }) => {
    if (name !== 'load') return;
    seen.add(loaderId);
    if (loaderId === expected) resolve();
  });
  const expect = (id: string): void => {
    expected = id;
    if (seen.has(id)) resolve();
  };
  return { promise, stop, expect };
}

/** Centre of the element's first box in viewport pixels, after scrolling it into view. */
async function locate(session: CdpSession, backendNodeId: number): Promise<{ x: number; y: number } | undefined> {
  const [scrolled, quads] = await Promise.allSettled([
    session.send('DOM.scrollIntoViewIfNeeded', { backendNodeId }),
    session.send('DOM.getContentQuads', { backendNodeId }),
  ]);
  for (const result of [scrolled, quads]) {
    // Chromium answers with an error for nodes that are detached or have no box; any other failure is a failure.
    if (result.status === 'rejected' && !isMissingNode(result.reason)) throw result.reason as Error;
  }
  const quad = quads.status === 'fulfilled' ? quads.value.quads[0] : undefined;
  if (quad === undefined) return undefined;
  return { x: (quad[0] + quad[2] + quad[4] + quad[6]) / 4, y: (quad[1] + quad[3] + quad[5] + quad[7]) / 4 };
}

function isMissingNode(error: unknown): boolean {
  return error instanceof TabwrightError && error.code === 'protocol-error' && error.details.protocolCode === -32000;
}
