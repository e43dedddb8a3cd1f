// A look of the host's own at the browser after an episode, for graders: the tab that was acted on, and sessions of which
// cells learn nothing. Whoever looks attaches, and lets go of what it attached to.

import type { CdpConnection } from '../browser/index.ts';
import { targets, topPage } from './methods/attach.ts';
import type { Scope } from './methods/scope.ts';

export type HostTab = {
  readonly connection: CdpConnection;
  readonly targetId: string;
  /** Whose cookies and storage it has; undefined is the browser's own. */
  readonly browserContextId: string | undefined;
  /** By the browser, not by the page. */
  readonly url: string;
  /** A session of the host's own on a target; its id. */
  readonly attach: (targetId: string) => Promise<string>;
};

/** Undefined where no tab was acted on, or it is gone. A dialog that is open in the attached page is dismissed. */
export async function hostTab(scope: Scope, targetId: string | undefined): Promise<HostTab | undefined> {
  const { browser, signal } = scope;
  const all = await targets(scope);
  const target = all.find((info) => info.targetId === targetId);
  if (target === undefined) return undefined;
  const page = topPage(all, target);
  const connection = await browser.connection(signal);
  const { attached } = browser;
  // With a dialog open a page answers nobody; the session that saw it open can close it, and no other.
  if (attached !== undefined && browser.state(attached.sessionId).dialog !== undefined) {
    await scope.send({ sessionId: attached.sessionId }, 'Page.handleJavaScriptDialog', { accept: false });
  }
  return {
    connection,
    targetId: page.targetId,
    browserContextId: page.browserContextId,
    url: page.url,
    attach: (id) => browser.attachPrivately(connection, id),
  };
}
