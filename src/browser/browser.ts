// A running Chromium: opens pages, and ends. How it was started is launch.ts's business.

import { onAbort, withDeadline, type OwnedProcess } from '../util/index.ts';
import type { CdpConnection } from './cdp.ts';
import { endProcess } from './end-process.ts';
import { operationTimeout } from './failures.ts';
import { createBeginFrames, createOrdinaryFrames, type FrameMode } from './frames.ts';
import { createPage, type Page } from './page.ts';

export type Viewport = { readonly width: number; readonly height: number };

export type NewPageOptions = {
  /** CSS pixels. */
  readonly viewport: Viewport;
  readonly signal?: AbortSignal;
  /** Milliseconds; default 15000. */
  readonly deadlineMs?: number;
};

export interface Browser extends AsyncDisposable {
  readonly mode: FrameMode;
  /** Name and version as the browser gives them, e.g. `HeadlessChrome/147.0.7727.0`. */
  readonly product: string;
  readonly pid: number;
  /** True once the process or its pipe is gone; every call fails then with `browser-closed`. */
  readonly closed: boolean;
  /** What the browser last wrote to its standard error. */
  readonly stderr: string;
  /** The protocol itself, for what pages do not cover: tabs, dialogs, raw commands. */
  readonly cdp: CdpConnection;
  newPage(options: NewPageOptions): Promise<Page>;
}

export type BrowserParts = {
  readonly cdp: CdpConnection;
  readonly owned: OwnedProcess;
  readonly product: string;
  readonly mode: FrameMode;
  readonly stderr: () => string;
  /** How long the killed process may take to end, milliseconds. Default 10000. */
  readonly killDeadlineMs?: number;
};

export function createBrowser(parts: BrowserParts): Browser {
  const { cdp, owned, product, mode, stderr, killDeadlineMs } = parts;
  const targetOf = new Map<string, string>(); // session id -> target id
  const closeTarget = (targetId: string | undefined): void => {
    if (targetId === undefined || cdp.closed) return;
    // The answer says nothing that the session's own end does not say.
    cdp.root.send('Target.closeTarget', { targetId }).catch(() => undefined);
  };
  const frames =
    mode === 'begin-frame'
      ? createBeginFrames({ endPage: (page) => closeTarget(targetOf.get(page.id ?? '')) })
      : createOrdinaryFrames();

  const openTarget = async (viewport: Viewport, signal: AbortSignal): Promise<Page> => {
    const { targetId } = await cdp.root.send('Target.createTarget', {
      url: 'about:blank',
      ...(mode === 'begin-frame' ? { ...viewport, enableBeginFrameControl: true } : { newWindow: true }),
    });
    // Given up now, the page belongs to nobody: closing its target also settles the calls below.
    const unlink = onAbort(signal, () => closeTarget(targetId));
    try {
      signal.throwIfAborted();
      const { sessionId } = await cdp.root.send('Target.attachToTarget', { targetId, flatten: true });
      const session = cdp.session(sessionId);
      await Promise.all([
        session.send('Page.enable'),
        session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
        session.send('Inspector.enable'),
        session.send('Emulation.setDeviceMetricsOverride', { ...viewport, deviceScaleFactor: 1, mobile: false }),
        session.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
      ]);
      targetOf.set(sessionId, targetId);
      const end = (): void => {
        closeTarget(targetId);
        targetOf.delete(sessionId);
      };
      return createPage({ session, frames, connected: () => !cdp.closed, end });
    } catch (error) {
      closeTarget(targetId);
      throw error;
    } finally {
      unlink();
    }
  };
  void owned.ended.then(() => cdp.close());

  return {
    mode,
    product,
    pid: owned.child.pid!,
    cdp,
    get closed() {
      return cdp.closed;
    },
    get stderr() {
      return stderr();
    },
    newPage: ({ viewport, signal, deadlineMs = 15_000 }) =>
      withDeadline(
        {
          ms: deadlineMs,
          onExpiry: () => operationTimeout('newPage', deadlineMs),
          ...(signal === undefined ? {} : { signal }),
        },
        (inner) => openTarget(viewport, inner),
      ),
    async [Symbol.asyncDispose]() {
      cdp.close();
      await endProcess(owned, killDeadlineMs);
    },
  };
}
