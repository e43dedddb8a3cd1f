// What an escape would reach: secrets and servers of the host, made for one test file. An attempt has succeeded when it
// holds the secret, when a server has heard from it, or when something of the host is not as it was.

import { spawn, type ChildProcess } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, chmodSync, existsSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer, type AddressInfo } from 'node:net';
import { homedir, networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Handed to every attempt, inside and outside. */
export type Targets = {
  readonly secret: string;
  /** A file that everyone on the host may read, holding the secret; its folder everyone may write. */
  readonly file: string;
  readonly folder: string;
  readonly home: string;
  /** Servers on the host's loopback that answer with the secret. */
  readonly httpPort: number;
  readonly udpPort: number;
  readonly unixSocket: string;
  readonly abstractSocket: string;
  /** An address of the host that is not loopback, if it has one. */
  readonly ownAddress: string | undefined;
  /** A process of the host, with the secret on its command line. */
  readonly pid: number;
  readonly variable: string;
};

export type Host = AsyncDisposable & {
  readonly targets: Targets;
  /** What is not as it was: files in the folder, the secret's file, the process. */
  damage(): readonly string[];
};

export async function createHost(): Promise<Host> {
  const folder = mkdtempSync(join(tmpdir(), 'tabwright-escape-'));
  chmodSync(folder, 0o777);
  const secret = `secret-${Math.random().toString(36).slice(2)}`;
  const file = join(folder, 'secret.txt');
  writeFileSync(file, secret, { mode: 0o644 });
  mkdirSync(join(folder, 'open'));
  chmodSync(join(folder, 'open'), 0o777);

  const http = createServer((_, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*').setHeader('Content-Type', 'text/html');
    response.end(`<script>parent.postMessage('${secret}', '*')</script>${secret}`);
  });
  const local = createTcpServer((socket) => socket.end(secret));
  const abstract = createTcpServer((socket) => socket.end(secret));
  const udp = createSocket('udp4');
  udp.on('message', (_, sender) => udp.send(secret, sender.port, sender.address));
  const unixSocket = join(folder, 'socket');
  const abstractSocket = `\0tabwright-${secret}`;
  await Promise.all([
    listening(http, () => http.listen(0)), // every address, so that IPv6 and the machine's own are there too
    listening(local, () => local.listen({ path: unixSocket, readableAll: true, writableAll: true })),
    listening(abstract, () => abstract.listen({ path: abstractSocket })),
    listening(udp, () => udp.bind(0, '127.0.0.1')),
  ]);
  const sleeper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', secret], { stdio: 'ignore' });
  await once(sleeper, 'spawn');
  const variable = 'TABWRIGHT_ESCAPE_API_KEY';
  process.env[variable] = secret;

  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return {
    targets: {
      secret,
      file,
      folder,
      home: existsSync(homedir()) ? homedir() : folder,
      httpPort: (http.address() as AddressInfo).port,
      udpPort: udp.address().port,
      unixSocket,
      abstractSocket,
      ownAddress: own.find(({ internal, family }) => !internal && family === 'IPv4')?.address,
      pid: sleeper.pid!,
      variable,
    },
    damage: () => [
      ...['new.txt', 'open/new.txt', 'open/download.txt', 'link'].filter((name) => existsSync(join(folder, name))),
      ...(readFileSync(file, 'utf8') === secret ? [] : ['the file has been changed']),
      ...(sleeper.exitCode === null && sleeper.signalCode === null ? [] : ['the process has been ended']),
      ...['/usr/tabwright-escape', '/dev/shm/tabwright-escape', '/etc/ld.so.preload.tabwright'].filter((path) =>
        existsSync(path),
      ),
    ],
    async [Symbol.asyncDispose]() {
      delete process.env[variable];
      http.closeAllConnections();
      for (const server of [http, local, abstract, udp]) server.close();
      await ended(sleeper);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function listening(server: Server | TcpServer | Socket, start: () => unknown): Promise<void> {
  const up = once(server, 'listening');
  start();
  await up;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
