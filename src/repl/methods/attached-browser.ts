// The browser as a REPL knows it: one connection, made when first needed and again when it was lost, and one attached
// page on which helpers act. It follows what the attached page tells: dialogs, requests in flight, its address.
// Sessions that the host keeps for itself (for screenshots of judges, for WebMCP) are private: a cell sees nothing of them.

import type { CdpConnection, CdpMessage } from '../../browser/index.ts';
import { createSemaphore, type Semaphore } from '../../util/index.ts';
import { createEventLog, type EventLog } from './event-log.ts';

export type Attached = { readonly targetId: string; readonly sessionId: string };

export type Dialog = { readonly type: string; readonly message: string };

/** What is known of the attached page without asking it. */
export type PageState = {
  /** Id of the main frame, once attached. */
  mainFrameId: string | undefined;
  dialog: Dialog | undefined;
  /** Address of the main frame, as far as navigations were seen. */
  url: string;
  /** By request id, the frame that asked. */
  readonly requests: Map<string, string | undefined>;
  /** When a request last began or ended; milliseconds of the given clock. */
  networkChangedAt: number;
};

export type AttachedBrowserOptions = {
  /** Connects to the browser that is there now. */
  readonly connect: (signal: AbortSignal) => Promise<CdpConnection>;
  /** Milliseconds, wall clock. */
  readonly now: () => number;
};

export interface AttachedBrowser {
  readonly events: EventLog;
  /** The attached page, while it is there. */
  attached: Attached | undefined;
  /** Held while attaching: helpers that are called together attach once. */
  readonly attaching: Semaphore;
  connection(signal: AbortSignal): Promise<CdpConnection>;
  /** Connections that have answered a command. */
  readonly answered: WeakSet<CdpConnection>;
  /** State of a session's page; made when first asked for. */
  state(sessionId: string): PageState;
  /** Calls `listener` for every event of every session, private ones included. */
  onEvent(listener: (message: CdpMessage) => void): () => void;
  /** Calls `listener` when the page of a session that cells see is at another address. */
  onAddress(listener: (sessionId: string, url: string) => void): void;
  /** Attaches to a target with a session of which cells learn nothing. */
  attachPrivately(connection: CdpConnection, targetId: string): Promise<string>;
  /** Attaches to the browser itself; cells learn nothing of that session, nor of those attached through it. */
  attachBrowserPrivately(connection: CdpConnection): Promise<string>;
  /** These private sessions have ended. */
  forgetPrivate(sessionIds: readonly string[]): void;
  isPrivate(sessionId: string): boolean;
  /** Lets go of the attached page's objects that are held under this name. */
  releaseHandles(objectGroup: string): void;
}

export function createAttachedBrowser({ connect, now }: AttachedBrowserOptions): AttachedBrowser {
  const events = createEventLog(now);
  const states = new Map<string, PageState>();
  const listeners = new Set<(message: CdpMessage) => void>();
  const addressListeners = new Set<(sessionId: string, url: string) => void>();
  const privateSessions = new Set<string>();
  const privateTargets: string[] = []; // targets whose private attachment is under way
  let current: Promise<CdpConnection> | undefined;
  let live: CdpConnection | undefined;

  const state = (sessionId: string): PageState => {
    const known = states.get(sessionId);
    if (known !== undefined) return known;
    const fresh: PageState = {
      mainFrameId: undefined,
      dialog: undefined,
      url: '',
      requests: new Map(),
      networkChangedAt: now(),
    };
    states.set(sessionId, fresh);
    return fresh;
  };

  const receive = (message: CdpMessage): void => {
    for (const listener of [...listeners]) listener(message);
    const subject = attachmentOf(message);
    if (subject?.kind === 'attached') {
      const index = privateTargets.indexOf(subject.targetId);
      if (index !== -1) {
        privateTargets.splice(index, 1);
        privateSessions.add(subject.sessionId);
      }
      if (privateSessions.has(message.sessionId ?? '')) privateSessions.add(subject.sessionId);
      // Cells have no way to attach to the browser itself, so that session is one that is being made below.
      if (subject.type === 'browser') privateSessions.add(subject.sessionId);
    }
    if (privateSessions.has(message.sessionId ?? '') || privateSessions.has(subject?.sessionId ?? '')) {
      if (subject?.kind === 'detached') privateSessions.delete(subject.sessionId);
      return;
    }
    if (message.sessionId !== undefined) {
      const page = state(message.sessionId);
      const before = page.url;
      follow(page, message, now());
      if (page.url !== before) for (const listener of addressListeners) listener(message.sessionId, page.url);
    }
    if (subject?.kind === 'detached') {
      states.delete(subject.sessionId);
      if (browser.attached?.sessionId === subject.sessionId) browser.attached = undefined;
    }
    events.add({
      method: message.method,
      params: message.params,
      ...(message.sessionId === undefined ? {} : { sessionId: message.sessionId }),
    });
  };

  const browser: AttachedBrowser = {
    events,
    attached: undefined,
    attaching: createSemaphore(1),
    answered: new WeakSet(),
    async connection(signal) {
      if (live !== undefined && !live.closed) return live;
      if (live?.closed) {
        live = undefined;
        current = undefined;
        browser.attached = undefined;
        states.clear();
        privateSessions.clear();
      }
      current ??= connect(signal).then(
        (connection) => {
          connection.onMessage(receive);
          live = connection;
          return connection;
        },
        (error: unknown) => {
          current = undefined;
          throw error;
        },
      );
      return current;
    },
    state,
    onEvent(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onAddress: (listener) => void addressListeners.add(listener),
    async attachPrivately(connection, targetId) {
      privateTargets.push(targetId);
      const { sessionId } = await connection.root.send('Target.attachToTarget', { targetId, flatten: true });
      privateSessions.add(sessionId);
      return sessionId;
    },
    async attachBrowserPrivately(connection) {
      const { sessionId } = await connection.root.send('Target.attachToBrowserTarget');
      privateSessions.add(sessionId);
      return sessionId;
    },
    forgetPrivate(sessionIds) {
      for (const id of sessionIds) privateSessions.delete(id);
    },
    isPrivate: (sessionId) => privateSessions.has(sessionId),
    releaseHandles(objectGroup) {
      const sessionId = browser.attached?.sessionId;
      if (live === undefined || live.closed || sessionId === undefined) return;
      // A page that is gone holds nothing any more, and a busy one lets go when it is free again.
      live.request('Runtime.releaseObjectGroup', { objectGroup }, sessionId).catch(() => undefined);
    },
  };
  return browser;
}

type Attachment = {
  readonly kind: 'attached' | 'detached';
  readonly sessionId: string;
  readonly targetId: string;
  readonly type: string;
};

function attachmentOf({ method, params }: CdpMessage): Attachment | undefined {
  if (method === 'Target.attachedToTarget') {
    const { sessionId, targetInfo } = params as {
      sessionId: string;
      targetInfo: { targetId: string; type: string };
    };
    return { kind: 'attached', sessionId, targetId: targetInfo.targetId, type: targetInfo.type };
  }
  if (method !== 'Target.detachedFromTarget') return undefined;
  return { kind: 'detached', sessionId: (params as { sessionId: string }).sessionId, targetId: '', type: '' };
}

/** Takes over what an event says about its page. */
function follow(state: PageState, { method, params }: CdpMessage, at: number): void {
  const told = params as {
    type?: string;
    message?: string;
    requestId?: string;
    url?: string;
    frameId?: string;
    frame?: { url: string; parentId?: string; urlFragment?: string };
  };
  switch (method) {
    case 'Page.javascriptDialogOpening':
      state.dialog = { type: told.type!, message: told.message! };
      break;
    case 'Page.javascriptDialogClosed':
      state.dialog = undefined;
      break;
    case 'Network.requestWillBeSent':
      state.requests.set(told.requestId!, told.frameId);
      state.networkChangedAt = at;
      break;
    case 'Network.loadingFinished':
    case 'Network.loadingFailed':
      if (state.requests.delete(told.requestId!)) state.networkChangedAt = at;
      break;
    case 'Page.frameDetached':
      // Removed, or moved to a process of its own, whose session is told how its requests end.
      for (const [requestId, frameId] of state.requests) {
        if (frameId !== told.frameId) continue;
        state.requests.delete(requestId);
        state.networkChangedAt = at;
      }
      break;
    case 'Page.frameNavigated':
      if (told.frame!.parentId === undefined) state.url = told.frame!.url + (told.frame!.urlFragment ?? '');
      break;
    case 'Page.navigatedWithinDocument':
      if (told.frameId === state.mainFrameId) state.url = told.url!;
      break;
    default:
  }
}
