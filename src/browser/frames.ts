// How a page gets its frames and its pictures. In begin-frame mode Chromium draws only when told to, so a step waits
// for frames it issues itself instead of a 60 Hz clock; in ordinary mode Chromium draws when it likes.
// Measured: with more than one `beginFrame` in flight per browser several pages hang for good, hence the queue.
// Source: https://chromedevtools.github.io/devtools-protocol/tot/HeadlessExperimental/

import { createSemaphore } from '../util/index.ts';
import type { CdpSession } from './cdp.ts';
import { protocolError } from './failures.ts';

export type FrameMode = 'begin-frame' | 'ordinary';

export interface Frames {
  readonly mode: FrameMode;
  /** Settles as `work` does. Input and loading need frames to finish; they are issued until then, at least one. */
  during<T>(page: CdpSession, work: Promise<T>): Promise<T>;
  /** PNG of the page as it is now. */
  picture(page: CdpSession): Promise<Uint8Array>;
}

export type BeginFrameOptions = {
  /** A frame that takes longer, in milliseconds, belongs to a page that hangs; default 5000. */
  readonly frameDeadlineMs?: number;
  /** Ends the target of a session, so that its frame comes back and the other pages can go on. */
  readonly endPage: (page: CdpSession) => void;
};

/**
 * The answer to the work often comes right after that of the frame, and else it waits for something that no frame brings (a
 * server, a timer, a busy processor): the pauses before further frames grow by a millisecond each, up to this.
 */
const LONGEST_PAUSE_MS = 16;
/** A first frame may come without a picture while the page is still being drawn. */
const PICTURE_TRIES = 10;

export function createBeginFrames(options: BeginFrameOptions): Frames {
  const oneAtATime = createSemaphore(1);

  const frame = (page: CdpSession, screenshot: boolean): Promise<string | undefined> =>
    oneAtATime.run(async () => {
      const timer = setTimeout(() => options.endPage(page), options.frameDeadlineMs ?? 5_000);
      try {
        // Drawing is left to the frame that takes a picture: a step without one costs a third less processor time.
        const result = await page.send(
          'HeadlessExperimental.beginFrame',
          screenshot ? { screenshot: { format: 'png', optimizeForSpeed: true } } : { noDisplayUpdates: true },
        );
        return result.screenshotData;
      } finally {
        clearTimeout(timer);
      }
    });

  return {
    mode: 'begin-frame',
    async during(page, work) {
      let settled = false;
      const settlement = work.then(
        () => void (settled = true),
        () => void (settled = true),
      );
      for (let count = 1; count === 1 || !settled; count++) {
        await frame(page, false);
        if (!settled) await pause(Math.min(count, LONGEST_PAUSE_MS), settlement);
      }
      return work;
    },
    async picture(page) {
      for (let attempt = 1; attempt <= PICTURE_TRIES; attempt++) {
        const data = await frame(page, true);
        if (data !== undefined) return Buffer.from(data, 'base64');
      }
      throw protocolError('HeadlessExperimental.beginFrame', 0, `no picture in ${PICTURE_TRIES} frames`);
    },
  };
}

export function createOrdinaryFrames(): Frames {
  return {
    mode: 'ordinary',
    during: (_page, work) => work,
    async picture(page) {
      const { data } = await page.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true });
      return Buffer.from(data, 'base64');
    },
  };
}

/** Waits `ms` milliseconds or until `settlement`, whichever is first. */
function pause(ms: number, settlement: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void settlement.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
