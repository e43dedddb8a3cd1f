// What goes over the network in an episode, written down by the host on a connection of its own: every tab, frame and
// worker, from before the first page. It knows the protocol's events and nothing of what they are compared with.
//
// A new target is held until it is being listened to, so that no request is missed. What a cell answers in the server's
// place (Fetch.fulfillRequest, a service worker) came from nowhere and counts as not answered.

import { TabwrightError } from '../../../core/index.ts';
import type { CdpConnection, CdpMessage } from '../../../browser/index.ts';
import { sleep, withDeadline } from '../../../util/index.ts';

export type RecordedRequest = {
  readonly url: string;
  readonly method: string;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it was sent; null where nothing was, or it is too long. */
  readonly body: string | null;
  /** 0 where no server answered. */
  readonly status: number;
  /** Names in small letters; several values of one name stand in lines. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** Of answers in JSON. */
  readonly responseBody: string | null;
  /** More was sent than is kept. */
  readonly tooLong: boolean;
  /** A tab asked for its own page, and not for a part or a frame of one. */
  readonly page: boolean;
};

export interface NetworkRecorder {
  /**
   * In the order in which they were sent. Waits a while for those that are on their way. Rejects (boundary `browser`) where
   * the browser was gone meanwhile: nobody knows then what was sent.
   */
  requests(options: { readonly signal: AbortSignal }): Promise<readonly RecordedRequest[]>;
  /** More was sent than is kept. */
  readonly overflow: boolean;
  stop(): void;
}

export type RecorderOptions = {
  readonly connection: CdpConnection;
  readonly signal: AbortSignal;
  /** Requests that are kept. Default 50,000; pictures, styles and scripts count too. */
  readonly maxRequests?: number;
  /** Characters of addresses, headers and bodies that are kept in all. Default 64 Mi. */
  readonly maxCharacters?: number;
  /** Milliseconds that requests on their way are waited for. Default 5,000. */
  readonly settleMs?: number;
  /** Milliseconds for the browser to answer once they have come. Default 15,000. */
  readonly answerMs?: number;
};

type Headers = Record<string, string>;
type Hop = {
  readonly url: string;
  readonly method: string;
  readonly page: boolean;
  /** Whose end is waited for: not those of streams. */
  readonly short: boolean;
  provisional: Headers;
  sent: Headers | undefined;
  body: string | null;
  tooLong: boolean;
  status: number;
  responseHeaders: Headers;
  received: Headers | undefined;
  responseBody: string | null;
  /** Undefined until something came back: whether events with the true headers come too. */
  hasExtra: boolean | undefined;
  over: boolean;
};
/** All hops of one redirection have one id. */
type Chain = { readonly hops: Hop[]; readonly sent: Headers[]; readonly received: Headers[] };

const START_MS = 15_000;
const BODY_CHARACTERS = 2 * 1024 * 1024;
const ALL_CHARACTERS = 64 * 1024 * 1024;
const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };
const SHORT: ReadonlySet<string> = new Set(['Document', 'XHR', 'Fetch', 'Ping']);

/** Resolves when all that is open is listened to. `connection` is the recorder's: it is closed by `stop`. */
export async function recordNetwork(options: RecorderOptions): Promise<NetworkRecorder> {
  const { connection, signal, maxRequests = 50_000, settleMs = 5_000, answerMs = 15_000 } = options;
  const { maxCharacters = ALL_CHARACTERS } = options;
  const chains = new Map<string, Chain>();
  const order: Hop[] = [];
  const work = new Set<Promise<unknown>>();
  /** Tabs by their sessions. The main frame of one has its name, in whatever process it is. */
  const tabs = new Map<string, string>();
  let overflow = false;
  let kept = 0;
  /** Whether there is room for it. */
  const keeps = (what: Headers | string | null): boolean => {
    kept += charactersOf(what);
    overflow ||= kept > maxCharacters;
    return !overflow;
  };

  /** A target that is gone has nothing more to tell. */
  const ask = async (method: string, params: object, sessionId?: string): Promise<unknown> => {
    try {
      return await connection.request(method, params, sessionId);
    } catch (error) {
      if (error instanceof TabwrightError && error.boundary === 'browser') return undefined;
      throw error;
    }
  };
  const apart = (task: Promise<unknown>): void => {
    work.add(task);
    void task.finally(() => work.delete(task));
  };
  const listenTo = async (sessionId: string): Promise<void> => {
    // Carried out in this order; the last lets a new target go.
    await Promise.all([
      ask('Network.enable', { maxPostDataSize: BODY_CHARACTERS }, sessionId),
      ask('Target.setAutoAttach', AUTO_ATTACH, sessionId),
      ask('Runtime.runIfWaitingForDebugger', {}, sessionId),
    ]);
  };
  const chainOf = (id: string): Chain => {
    const known = chains.get(id);
    if (known !== undefined) return known;
    const chain: Chain = { hops: [], sent: [], received: [] };
    chains.set(id, chain);
    return chain;
  };
  const answered = (hop: Hop, response: Response, hasExtra: boolean): void => {
    hop.hasExtra = hasExtra;
    if (keeps(response.headers)) hop.responseHeaders = lowered(response.headers);
    hop.status = cameFromServer(response) ? response.status : 0;
  };

  const receive = ({ method, params, sessionId }: CdpMessage): void => {
    if (method === 'Target.attachedToTarget') {
      const attached = params as Attached;
      if (attached.targetInfo.type === 'page') tabs.set(attached.sessionId, attached.targetInfo.targetId);
      apart(listenTo(attached.sessionId));
      return;
    }
    if (!method.startsWith('Network.')) return;
    const told = params as Told;
    // Once there is too much, nothing new is begun.
    const chain = overflow ? chains.get(told.requestId) : chainOf(told.requestId);
    if (chain === undefined) return;
    const hop = chain.hops.at(-1);
    switch (method) {
      case 'Network.requestWillBeSent': {
        if (hop !== undefined && !hop.over) {
          // A frame that moves to another process is told of twice.
          if (told.redirectResponse === undefined) return;
          answered(hop, told.redirectResponse, told.redirectHasExtraInfo ?? false);
          hop.over = true;
        }
        if (!/^https?:/u.test(told.request.url)) return;
        if (order.length >= maxRequests) {
          overflow = true;
          return;
        }
        const isPage =
          told.type === 'Document' && told.frameId !== undefined && told.frameId === tabs.get(sessionId ?? '');
        const next = hopOf(told, isPage);
        if (!keeps(next.url) || !keeps(next.provisional) || !keeps(next.body)) return;
        chain.hops.push(next);
        order.push(next);
        if (next.body === null && !next.tooLong && told.request.hasPostData === true) {
          apart(
            ask('Network.getRequestPostData', { requestId: told.requestId }, sessionId).then((answer) => {
              const { postData } = (answer ?? {}) as { readonly postData?: string };
              next.tooLong = (postData?.length ?? 0) > BODY_CHARACTERS;
              if (postData !== undefined && !next.tooLong && keeps(postData)) next.body = postData;
            }),
          );
        }
        return;
      }
      case 'Network.requestWillBeSentExtraInfo':
        if (keeps(told.headers)) chain.sent.push(lowered(told.headers));
        return;
      case 'Network.responseReceivedExtraInfo':
        if (keeps(told.headers)) chain.received.push(lowered(told.headers));
        return;
      case 'Network.responseReceived':
        if (hop !== undefined) answered(hop, told.response, told.hasExtraInfo ?? false);
        return;
      case 'Network.loadingFailed':
        if (hop !== undefined) hop.over = true;
        return;
      case 'Network.loadingFinished':
        if (hop === undefined) return;
        if (!/json/iu.test(hop.responseHeaders['content-type'] ?? '')) {
          hop.over = true;
          return;
        }
        apart(
          ask('Network.getResponseBody', { requestId: told.requestId }, sessionId).then((answer) => {
            const { body, base64Encoded = false } = (answer ?? {}) as Body;
            const isKept = body !== undefined && !base64Encoded && body.length <= BODY_CHARACTERS && keeps(body);
            if (isKept) hop.responseBody = body;
            hop.over = true;
          }),
        );
        return;
      default:
    }
  };

  const off = connection.onMessage(receive);
  const stop = (): void => {
    off();
    connection.close();
  };
  try {
    await withDeadline({ ms: START_MS, signal, onExpiry: notStarted }, async () => {
      await connection.root.send('Target.setAutoAttach', AUTO_ATTACH);
      await Promise.all(work);
    });
  } catch (error) {
    stop();
    throw error;
  }

  const pending = (): boolean => work.size > 0 || order.some(({ over, short }) => short && !over);
  return {
    get overflow() {
      return overflow;
    },
    stop,
    async requests({ signal: wait }) {
      const late = performance.now() + settleMs;
      while (!connection.closed && pending() && performance.now() < late) await sleep(20, wait);
      // A command after them: what the browser has told by then has been heard.
      if (!connection.closed) {
        const onExpiry = (): Error => notAnswered(answerMs);
        await withDeadline({ ms: answerMs, signal: wait, onExpiry }, () => ask('Target.getTargets', {}));
      }
      if (connection.closed) throw broken();
      for (const chain of chains.values()) pairHeaders(chain);
      return order.map(recorded);
    },
  };
}

type Response = {
  readonly status: number;
  readonly headers: Headers;
  readonly remoteIPAddress?: string;
  readonly fromDiskCache?: boolean;
  readonly fromPrefetchCache?: boolean;
  readonly fromServiceWorker?: boolean;
};
type Request = {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly postData?: string;
  readonly hasPostData?: boolean;
  readonly postDataEntries?: readonly { readonly bytes?: string }[];
};
/** Fields of all events that are looked at. */
type Told = {
  readonly requestId: string;
  readonly frameId?: string;
  readonly type?: string;
  readonly request: Request;
  readonly response: Response;
  readonly redirectResponse?: Response;
  readonly redirectHasExtraInfo?: boolean;
  readonly hasExtraInfo?: boolean;
  readonly headers: Headers;
};
type Attached = {
  readonly sessionId: string;
  readonly targetInfo: { readonly type: string; readonly targetId: string };
};
type Body = { readonly body?: string; readonly base64Encoded?: boolean };

function hopOf({ request, type = '' }: Told, page: boolean): Hop {
  const { url, method, headers } = request;
  return {
    url,
    method,
    page,
    short: SHORT.has(type),
    provisional: lowered(headers),
    sent: undefined,
    ...bodyOf(request),
    status: 0,
    responseHeaders: {},
    received: undefined,
    responseBody: null,
    hasExtra: undefined,
    over: false,
  };
}

function bodyOf({ postData, postDataEntries = [] }: Request): Pick<Hop, 'body' | 'tooLong'> {
  const parts = postDataEntries.flatMap(({ bytes }) => (bytes === undefined ? [] : [Buffer.from(bytes, 'base64')]));
  const text = postData ?? (parts.length === 0 ? null : Buffer.concat(parts).toString('utf8'));
  return text !== null && text.length > BODY_CHARACTERS
    ? { body: null, tooLong: true }
    : { body: text, tooLong: false };
}

/** What a server sent has an address that it came from, or lay in a cache that only servers fill. */
function cameFromServer({
  remoteIPAddress = '',
  fromDiskCache,
  fromPrefetchCache,
  fromServiceWorker,
}: Response): boolean {
  if (fromServiceWorker === true) return false;
  return remoteIPAddress !== '' || fromDiskCache === true || fromPrefetchCache === true;
}

/** Events with the true headers name no hop: they come in the hops' order, one for each that has them. */
function pairHeaders({ hops, sent, received }: Chain): void {
  const withExtra = hops.filter(({ hasExtra }) => hasExtra !== false);
  withExtra.forEach((hop, i) => {
    hop.sent = sent[i];
    hop.received = received[i];
  });
}

function recorded(hop: Hop): RecordedRequest {
  const { url, method, body, tooLong, status, responseBody, page } = hop;
  return {
    url,
    method,
    headers: { ...hop.provisional, ...hop.sent },
    body,
    tooLong,
    status,
    responseHeaders: { ...hop.responseHeaders, ...hop.received },
    responseBody,
    page,
  };
}

function charactersOf(what: Headers | string | null): number {
  if (what === null) return 0;
  if (typeof what === 'string') return what.length;
  return Object.entries(what).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

function lowered(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function notStarted(): TabwrightError {
  return new TabwrightError('browser', `the browser's network was not listened to within ${START_MS} ms`, {
    code: 'recording-not-started',
    retryable: true,
  });
}

function notAnswered(ms: number): TabwrightError {
  return new TabwrightError('browser', `the browser did not say within ${ms} ms what it had sent`, {
    code: 'browser-hangs',
    details: { ms },
    retryable: true,
  });
}

function broken(): TabwrightError {
  return new TabwrightError('browser', 'the browser was gone while its requests were recorded', {
    code: 'recording-broken',
    retryable: true,
  });
}
