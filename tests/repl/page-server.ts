// Pages on loopback for the tests of the REPL's methods, each with the one difficulty that a test is about. Two host names
// for the same server (`127.0.0.1`, `localhost`) are two sites for a browser.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PAGES } from './pages.ts';

export interface PageServer extends AsyncDisposable {
  /** Origin on 127.0.0.1. */
  readonly origin: string;
  /** The same server as another site. */
  readonly otherOrigin: string;
  /** Paths asked for so far, with their headers. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
}

export async function servePages(): Promise<PageServer> {
  const requests: { path: string; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => {
    const path = request.url!;
    requests.push({ path, headers: request.headers });
    answer(path, response, (server.address() as AddressInfo).port);
  });
  await new Promise<void>((done) => server.listen(0, done));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    otherOrigin: `http://localhost:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function answer(path: string, response: ServerResponse, port: number): void {
  if (path.startsWith('/never')) return; // accepted, and never answered
  if (path === '/half') {
    response.writeHead(200, { 'content-type': 'text/plain' }).write('the first half');
    return; // a body that does not end
  }
  if (path === '/missing') {
    response.writeHead(404).end('nothing here');
    return;
  }
  if (path === '/redirect') {
    response.writeHead(302, { location: `http://localhost:${port}/echo` }).end();
    return;
  }
  if (path === '/echo') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('an answer');
    return;
  }
  if (path === '/report.csv') {
    response.writeHead(200, { 'content-type': 'text/csv', 'content-disposition': 'attachment' }).end('a,b\n1,2\n');
    return;
  }
  const page = PAGES[path.replace(/[?#].*$/, '').slice(1)];
  if (page === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(port));
}
