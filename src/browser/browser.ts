// A running Chromium: opens pages, and ends. How it was started is launch.ts's business.

import { withDeadline, type OwnedProcess } from '../util/index.ts';
import type { CdpConnection } from './cdp.ts';
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
  newPage(options: NewPageOptions): Promise<Page>;
}

export type BrowserParts = {
  readonly cdp: CdpConnection;
  readonly owned: OwnedProcess;
  readonly product: string;
  readonly mode: FrameMode;
  readonly stderr: () => string;
};

export function createBrowser({ cdp, owned, product, mode, stderr }: BrowserParts): Browser {
  const targetOf = new Map<string, string>(); // session id -> target id
  const endTarget = (sessionId: string | undefined): void => {
    const targetId = targetOf.get(sessionId ?? '');
    if (targetId === undefined || cdp.closed) return;
    // The answer says nothing that the session's own end does not say.
    cdp.root.send('Target.closeTarget', { targetId }).catch(() => undefined);
  };
  const frames =
    mode === 'begin-frame' ? createBeginFrames({ endPage: (page) => endTarget(page.id) }) : createOrdinaryFrames();
  void owned.ended.then(() => cdp.close());

  return {
    mode,
    product,
    pid: owned.child.pid!,
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
        async () => {
          const { targetId } = await cdp.root.send('Target.createTarget', {
            url: 'about:blank',
            ...(mode === 'begin-frame' ? { ...viewport, enableBeginFrameControl: true } : { newWindow: true }),
          });
          const { sessionId } = await cdp.root.send('Target.attachToTarget', { targetId, flatten: true });
          targetOf.set(sessionId, targetId);
          const session = cdp.session(sessionId);
          await Promise.all([
            session.send('Page.enable'),
            session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
            session.send('Inspector.enable'),
            session.send('Emulation.setDeviceMetricsOverride', { ...viewport, deviceScaleFactor: 1, mobile: false }),
            session.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
          ]);
          const end = (): void => {
            endTarget(sessionId);
            targetOf.delete(sessionId);
          };
          return createPage({ session, frames, connected: () => !cdp.closed, end });
        },
      ),
    async [Symbol.asyncDispose]() {
      cdp.close();
      await owned.kill();
    },
  };
}
