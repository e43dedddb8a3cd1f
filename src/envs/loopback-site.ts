// Serves one page on the loopback interface, at a port that the system picks. Nothing outside this machine can reach it.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TabwrightError } from '../core/index.ts';

export interface LoopbackSite extends AsyncDisposable {
  readonly url: string;
}

export async function servePage(html: string): Promise<LoopbackSite> {
  const server = createServer((request, response) => {
    if (request.url === '/') response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
    // Browsers ask for an icon by themselves; a 404 would be an error in the page's console.
    else response.writeHead(request.url === '/favicon.ico' ? 204 : 404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new TabwrightError('env', `no page can be served on 127.0.0.1: ${cause.message}`, {
          code: 'site-not-served',
          cause,
        }),
      ),
    );
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
