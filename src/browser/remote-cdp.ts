// The protocol over a WebSocket, for a browser that somebody else started. Only the carrier differs from the pipe: a
// message is a WebSocket message instead of bytes up to a NUL.

import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { WebSocket } from 'ws';
import { TabwrightError } from '../core/index.ts';
import { withDeadline } from '../util/index.ts';
import { connectCdp, type CdpConnection } from './cdp.ts';
import { remoteUnreachable } from './failures.ts';

export type RemoteCdpOptions = {
  /** `ws://` or `wss://` of the browser itself, or `http://host:port` of its debugging port, which is asked for it. */
  readonly endpoint: string;
  readonly signal?: AbortSignal;
  /** Milliseconds until the connection stands; default 10000. */
  readonly deadlineMs?: number;
};

/** A picture of a long page is tens of megabytes. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
const END = Buffer.from([0]);

/** Rejects with `remote-unreachable`. Closing the connection leaves the browser running. */
export async function connectRemoteCdp({
  endpoint,
  signal,
  deadlineMs = 10_000,
}: RemoteCdpOptions): Promise<CdpConnection> {
  const onExpiry = (): Error => remoteUnreachable(endpoint, `no connection within ${deadlineMs} ms`);
  try {
    return await withDeadline(
      { ms: deadlineMs, onExpiry, ...(signal === undefined ? {} : { signal }) },
      async (inner) =>
        overWebSocket(
          await openSocket(/^https?:/.test(endpoint) ? await browserUrl(endpoint, inner) : endpoint, inner),
        ),
    );
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof TabwrightError) throw error;
    throw remoteUnreachable(endpoint, error instanceof Error ? error.message : String(error), error);
  }
}

async function browserUrl(endpoint: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(new URL('/json/version', endpoint), { signal });
  const { webSocketDebuggerUrl } = (await response.json()) as { readonly webSocketDebuggerUrl?: unknown };
  if (typeof webSocketDebuggerUrl !== 'string') throw new Error('it names no webSocketDebuggerUrl');
  return webSocketDebuggerUrl;
}

async function openSocket(url: string, signal: AbortSignal): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  // Every error is followed by `close`, which is what is listened to once the connection stands.
  socket.on('error', () => undefined);
  try {
    await once(socket, 'open', { signal });
    return socket;
  } catch (error) {
    socket.terminate();
    throw error;
  }
}

function overWebSocket(socket: WebSocket): CdpConnection {
  const output = new Readable({
    read: () => undefined,
    destroy(error, done) {
      socket.terminate();
      done(error);
    },
  });
  socket.on('message', (data: Buffer) => {
    output.push(data);
    output.push(END);
  });
  socket.on('close', () => output.destroy());
  const input = new Writable({
    decodeStrings: false,
    write: (message: string, _encoding, done) => socket.send(message.slice(0, -END.length), done),
  });
  return connectCdp(input, output);
}
