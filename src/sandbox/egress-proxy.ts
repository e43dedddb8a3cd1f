// The only way out of a jail: an HTTP proxy on a unix socket, which the jail sees as one file. It speaks plain
// proxy requests and CONNECT, decides by the rules and its own lookup, and sees nothing of what is inside TLS.
// What speaks to it is not trusted.

import { chmodSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { pipeline, type Duplex } from 'node:stream';
import { withDeadline } from '../util/index.ts';
import { createOwnFolder } from './own-folder.ts';
import { judgeEgress, systemLookup, type EgressRule, type EgressVerdict, type Lookup } from './egress-rules.ts';

export type EgressEvent = {
  readonly host: string;
  readonly port: number;
  /** The address that was connected to; undefined where the request was refused or failed. */
  readonly address?: string;
  /** Why it was refused or failed. */
  readonly reason?: string;
};

export type EgressProxyOptions = {
  readonly rules: readonly EgressRule[];
  /** Told of every request. */
  readonly onRequest?: (event: EgressEvent) => void;
  /** Default: the system's. */
  readonly lookup?: Lookup;
  /** Milliseconds until a connection is made, lookup included; default 15000. */
  readonly connectMs?: number;
};

export interface EgressProxy extends AsyncDisposable {
  /** On the host. */
  readonly socket: string;
}

/** At one time; a browser opens fewer than a hundred. */
const MAX_CONNECTIONS = 512;

export async function createEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  // The folder keeps other users of the machine out; the socket is open to the jail's own user.
  const folder = createOwnFolder('egress');
  const socket = join(folder, 'proxy');
  const sockets = new Set<Socket>();
  const keep = (one: Socket): void => {
    sockets.add(one);
    one.once('close', () => sockets.delete(one));
    one.on('error', () => one.destroy());
  };
  const server = createServer();
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', keep);
  server.on('request', (incoming, response) => void forward(incoming, response, open));
  server.on('connect', (incoming, client, head) => void tunnel(incoming, client, head, open));
  server.on('clientError', (_error, client) => client.destroy());
  server.on('upgrade', (_incoming, client) => client.destroy()); // browsers tunnel their WebSockets

  const open: Open = async (host, port) => {
    const note = (result: { address?: string; reason?: string }): void =>
      options.onRequest?.({ host, port, ...result });
    try {
      const upstream = await openConnection({ ...options, host, port });
      if (upstream instanceof Refusal) note({ reason: upstream.reason });
      else {
        keep(upstream);
        note({ address: upstream.remoteAddress! });
      }
      return upstream;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      note({ reason });
      return new Refusal(reason, 502);
    }
  };

  await listen(server, socket);
  chmodSync(socket, 0o666);
  return {
    socket,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const one of sockets) one.destroy();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

class Refusal {
  readonly reason: string;
  readonly status: number;
  constructor(reason: string, status = 403) {
    this.reason = reason;
    this.status = status;
  }
}

type Open = (host: string, port: number) => Promise<Socket | Refusal>;

async function listen(server: Server, path: string): Promise<void> {
  server.listen(path);
  await once(server, 'listening');
}

type ConnectionOptions = Pick<EgressProxyOptions, 'rules' | 'lookup' | 'connectMs'> & {
  readonly host: string;
  readonly port: number;
};

async function openConnection(options: ConnectionOptions): Promise<Socket | Refusal> {
  const { rules, host, port, lookup = systemLookup, connectMs = 15_000 } = options;
  const late = (): Error => new Error(`no connection to ${host}:${port} within ${connectMs} ms`);
  return withDeadline({ ms: connectMs, onExpiry: late }, async (signal) => {
    const verdict: EgressVerdict = await judgeEgress({ rules, lookup, host, port });
    if (!verdict.allowed) return new Refusal(verdict.reason);
    for (const address of verdict.addresses) {
      const socket = await tryConnect(address, verdict.port ?? port, signal);
      if (socket !== undefined) return socket;
    }
    throw new Error(`${host}:${port} does not accept connections`);
  });
}

/** Undefined when nobody answers there. Never looks a name up: `address` is a number. */
async function tryConnect(address: string, port: number, signal: AbortSignal): Promise<Socket | undefined> {
  const socket = connect({ host: address, port });
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    if (signal.aborted) throw error;
    return undefined;
  }
}

/** `CONNECT host:port`: bytes both ways until one side ends. */
async function tunnel(incoming: IncomingMessage, client: Duplex, head: Buffer, open: Open): Promise<void> {
  const match = /^(\[[0-9a-f:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/i.exec(incoming.url ?? '');
  if (match === null) {
    client.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    return;
  }
  const upstream = await open(match[1], Number(match[2]));
  if (upstream instanceof Refusal) {
    client.end(`HTTP/1.1 ${upstream.status} Refused\r\nContent-Length: 0\r\n\r\n`);
    return;
  }
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  upstream.write(head);
  pipeline(client, upstream, () => undefined); // an end of either side, clean or not, ends the other
  pipeline(upstream, client, () => undefined);
}

/** Headers of one connection only, which a proxy must not pass on (RFC 9110, 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** A plain request with a whole URL. */
async function forward(incoming: IncomingMessage, response: ServerResponse, open: Open): Promise<void> {
  const url = URL.canParse(incoming.url ?? '') ? new URL(incoming.url!) : undefined;
  if (url?.protocol !== 'http:') {
    refuse(response, new Refusal('a proxy request names a whole http: URL', 400));
    return;
  }
  const upstream = await open(url.hostname, Number(url.port || 80));
  if (upstream instanceof Refusal) {
    refuse(response, upstream);
    return;
  }
  const outgoing = request({
    createConnection: () => upstream,
    method: incoming.method,
    path: `${url.pathname}${url.search}`,
    // The host is the one that was judged, whatever the header said.
    headers: [
      ...['Host', url.host, 'Connection', 'close'],
      ...(incoming.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']),
      ...passedOn(incoming.rawHeaders, ['host']),
    ],
  });
  outgoing.on('response', (answer) => {
    try {
      response.writeHead(answer.statusCode!, answer.statusMessage, passedOn(answer.rawHeaders));
    } catch {
      // Some servers say what Node reads and does not write; a browser gets neither half.
      answer.destroy();
      refuse(response, new Refusal('the server answered with damaged headers', 502));
      return;
    }
    pipeline(answer, response, () => undefined); // cut short, both are destroyed: the browser sees a broken answer
  });
  outgoing.on('error', () =>
    response.headersSent ? response.destroy() : refuse(response, new Refusal('the server hung up', 502)),
  );
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

function refuse(response: ServerResponse, { reason, status }: Refusal): void {
  response
    .writeHead(status, { 'Content-Type': 'text/plain' })
    .end(`The proxy of the jail refused this request: ${reason}.\n`);
}

/** Names and values in turn, as Node gives and takes them. */
function passedOn(rawHeaders: readonly string[], except: readonly string[] = []): string[] {
  const passed: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i].toLowerCase();
    if (!HOP_BY_HOP.has(name) && !except.includes(name)) passed.push(rawHeaders[i], rawHeaders[i + 1]);
  }
  return passed;
}
