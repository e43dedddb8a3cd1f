// A connection of one episode's own over the connection to a browser that outlives the episode. What the episode does to
// the browser as a whole (discovery, automatic attaching, tracing, certificate errors ignored) belongs to a session that
// ends with it, and so does every session attached through that one.

import type { CdpConnection, CdpMessage } from '../browser/index.ts';
import { TabwrightError } from '../core/index.ts';

export async function connectEpisode(cdp: CdpConnection): Promise<CdpConnection> {
  const { sessionId: own } = await cdp.root.send('Target.attachToBrowserTarget');
  const subscriptions = new Set<() => void>();
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
        // What is told to the browser's own session is the host's business.
        if (message.sessionId !== undefined) listener(asRoot(message, own));
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
