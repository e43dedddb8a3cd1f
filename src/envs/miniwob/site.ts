// Serves the pages of MiniWoB++ on the loopback interface, at a port that the system picks, and nothing beside them.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { TabwrightError } from '../../core/index.ts';
import type { MiniwobContent } from './content.ts';

export interface MiniwobSite extends AsyncDisposable {
  /** Of a task's page. */
  urlOf(task: string): string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.png': 'image/png',
  '.gif': 'image/gif',
  '.jpg': 'image/jpeg',
  '.svg': 'image/svg+xml',
};

export async function serveMiniwob({ files }: MiniwobContent): Promise<MiniwobSite> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname.slice(1));
    const content = files.get(path);
    if (content !== undefined) {
      const type = TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
      // The same bytes for as long as this server lives: a reload need not ask again.
      response.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=86400' }).end(content);
    } else {
      // Browsers ask for an icon by themselves; a 404 would be an error in the page's console.
      response.writeHead(path === 'favicon.ico' ? 204 : 404).end();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new TabwrightError('env', `The pages of MiniWoB++ cannot be served on 127.0.0.1: ${cause.message}`, {
          code: 'site-not-served',
          cause,
        }),
      ),
    );
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    urlOf: (task) => `${origin}/miniwob/${task}.html`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
