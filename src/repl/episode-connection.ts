// A connection of one episode's own over the connection to a browser that outlives the episode. What the episode does to
// the browser as a whole (discovery, automatic attaching, tracing, certificate errors ignored) belongs to a session that
// ends with it, and so does every session attached through that one.

import type { CdpConnection, CdpMessage } from '../browser/index.ts';
import { TabwrightError } from '../core/index.ts';

export async function connectEpisode(cdp: CdpConnection): Promise<CdpConnection> {
  const { sessionId: own } = await cdp.root.send('Target.attachToBrowserTarget');
  const subscriptions = new Set<() => void>();
  /** Its own and those attached under it. Followed here, once, whoever listens. */
  const sessions = new Set([own]);
  const offSessions = cdp.onMessage(({ method, params, sessionId }) => {
    if (sessionId === undefined || !sessions.has(sessionId)) return;
    if (method === 'Target.attachedToTarget') sessions.add((params as { readonly sessionId: string }).sessionId);
  });
  let ended = false;
  return {
    root: { ...cdp.session(own), id: undefined },
    get closed() {
      return ended || cdp.closed;
    },
    session: (id) => cdp.session(id),
    request: (method, params, sessionId) =>
      ended ? Promise.reject(episodeEnded(method)) : cdp.request(method, params, sessionId ?? own),
    onMessage(listener) {
      const off = cdp.onMessage((message) => {
        // What is told to other sessions is the host's business, or another connection's.
        if (message.sessionId !== undefined && sessions.has(message.sessionId)) listener(asRoot(message, own));
      });
      subscriptions.add(off);
      return () => {
        subscriptions.delete(off);
        off();
      };
    },
    close() {
      if (ended) return;
      ended = true;
      for (const off of subscriptions) off();
      subscriptions.clear();
      offSessions();
      // A browser that is gone has no sessions left; any other one carries this out before whatever comes next.
      cdp.root.send('Target.detachFromTarget', { sessionId: own }).catch(() => undefined);
    },
  };
}

function asRoot(message: CdpMessage, own: string): CdpMessage {
  return message.sessionId === own ? { ...message, sessionId: undefined } : message;
}

function episodeEnded(method: string): TabwrightError {
  return new TabwrightError('browser', `the session that asked for ${method} has ended`, { code: 'session-ended' });
}
