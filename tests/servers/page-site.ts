// One small page on loopback, and the rule that lets a jailed browser reach it.

import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface PageSite extends AsyncDisposable {
  readonly url: string;
  /** For `--allow`. */
  readonly host: string;
}

export async function startPageSite(): Promise<PageSite> {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<title>Shop</title><button onclick="document.title = \'Bought\'">Buy</button>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/`,
    host,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
