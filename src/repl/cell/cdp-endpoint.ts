// `CDP_ENDPOINT`: a WebSocket on the loopback of the cell's own process (in a jail nobody else has that loopback), so
// that a client of the protocol, e.g. `chromium.connectOverCDP` of playwright-core, can be used in cells. It carries
// messages between its clients and the host and decides nothing: what may be sent is the host's to say.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { LIMITS } from './limits.ts';
import type { CdpCommandMessage, CdpEndedMessage, CdpFromClientMessage, CdpToClientMessage } from './messages.ts';

export interface CdpEndpoint {
  /** `ws://`, with a path that cannot be guessed: where there is no jail, others share the loopback. */
  readonly url: string;
  receive(message: CdpToClientMessage | CdpEndedMessage): void;
}

/** Beyond this a message is not even read, and its connection is closed. Bytes. */
const MAX_PAYLOAD = 4 * LIMITS.cdpCommandBytes;
const HANDSHAKE_MS = 10_000;
/** WebSocket: the server cannot go on; a reason has at most 123 bytes. */
const SERVER_ERROR = 1011;
const MAX_REASON = 120;

/** Codes of JSON-RPC and of Chromium. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

// Taken before any cell runs.
const { parse, stringify } = JSON;

export async function startCdpEndpoint(send: (message: CdpFromClientMessage) => void): Promise<CdpEndpoint> {
  const path = `/devtools/browser/${randomBytes(32).toString('hex')}`;
  const clients = new Map<number, WebSocket>();
  let last = 0;

  const accept = (socket: WebSocket): void => {
    const connection = ++last;
    clients.set(connection, socket);
    send({ type: 'cdp-open', connection });
    socket.on('message', (data: Buffer) => {
      const command = readCommand(connection, data);
      if ('error' in command) socket.send(stringify(command));
      else send(command);
    });
    // Every error is followed by `close`.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (clients.delete(connection)) send({ type: 'cdp-close', connection });
    });
  };

  const server = createServer((_, response) => response.writeHead(404).end());
  server.headersTimeout = HANDSHAKE_MS;
  server.requestTimeout = HANDSHAKE_MS;
  server.maxConnections = 2 * LIMITS.cdpConnections;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const refusal = refused(request, path) ?? (clients.size >= LIMITS.cdpConnections ? '429 Too Many Requests' : '');
    if (refusal !== '') {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    // Loaded when it is first needed: most cells never connect.
    void import('ws').then(({ WebSocketServer }) => {
      const upgrade = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_PAYLOAD });
      upgrade.handleUpgrade(request, socket, head, accept);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });

  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    receive(message) {
      const socket = clients.get(message.connection);
      if (socket === undefined) return; // it has closed meanwhile
      if (message.type === 'cdp-message') {
        socket.send(stringify(message.message));
        return;
      }
      clients.delete(message.connection);
      socket.close(SERVER_ERROR, message.reason.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_REASON));
    },
  };
}

/** Pages always name their origin; clients that this is for never do. */
function refused({ url = '', headers }: IncomingMessage, path: string): string | undefined {
  const [given, right] = [Buffer.from(url), Buffer.from(path)];
  if (given.length !== right.length || !timingSafeEqual(given, right)) return '404 Not Found';
  return headers.origin === undefined ? undefined : '403 Forbidden';
}

type Refusal = { readonly id?: number; readonly error: { readonly code: number; readonly message: string } };

function readCommand(connection: number, data: Buffer): CdpCommandMessage | Refusal {
  let given: Partial<Record<string, unknown>> | null;
  try {
    given = parse(data.toString()) as typeof given;
  } catch (error) {
    return { error: { code: PARSE_ERROR, message: (error as Error).message } };
  }
  const { id, method, params = {}, sessionId } = given ?? {};
  const refuse = (message: string): Refusal => ({
    ...(Number.isSafeInteger(id) ? { id: id as number } : {}),
    error: { code: INVALID_REQUEST, message },
  });
  if (!Number.isSafeInteger(id) || (id as number) < 0) return refuse('id must be an integer, 0 or more');
  if (typeof method !== 'string' || method.length > 100) return refuse('method must be a string of up to 100 letters');
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return refuse('params must be an object');
  if (sessionId !== undefined && (typeof sessionId !== 'string' || sessionId.length > 100)) {
    return refuse('sessionId must be a string of up to 100 letters');
  }
  if (data.length > LIMITS.cdpCommandBytes) {
    return refuse(`a command of ${data.length} bytes; the limit is ${LIMITS.cdpCommandBytes}`);
  }
  return {
    type: 'cdp-command',
    connection,
    id: id as number,
    method,
    params: params as Record<string, unknown>,
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}
