// A picture for judges: taken on a session of the host's own, which cells neither see nor can close for good.

import { targets, topPage } from './attach.ts';
import { isCdpFailure, isCdpTimeout, isPageGone } from './failures.ts';
import type { Scope } from './scope.ts';

/** PNG of the page that a target is in; undefined when it does not answer or is gone. */
export async function hostScreenshot(scope: Scope, targetId: string): Promise<Uint8Array | undefined> {
  const { browser } = scope;
  try {
    const all = await targets(scope);
    const target = all.find((info) => info.targetId === targetId);
    if (target === undefined) return undefined;
    const connection = await browser.connection(scope.signal);
    const sessionId = await browser.attachPrivately(connection, topPage(all, target).targetId);
    try {
      const { data } = await scope.send({ sessionId }, 'Page.captureScreenshot', { format: 'png' });
      return Buffer.from(data, 'base64');
    } finally {
      await connection.root.send('Target.detachFromTarget', { sessionId });
    }
  } catch (error) {
    if (isCdpFailure(error) || isCdpTimeout(error) || isPageGone(error)) return undefined;
    throw error;
  }
}
