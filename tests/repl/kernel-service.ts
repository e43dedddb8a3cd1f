// As much of Kernel's service as a provider uses, on loopback, telling what was asked of it. What its answers are is the
// test's to say; cells are run by whatever the test gives.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type KernelServiceOptions = {
  /** Answers to requests for a browser, in turn; the last one stays. A number is a status without a body. */
  readonly acquire: readonly (Acquired | Promise<Acquired>)[];
  /** Answers to a cell: a result, or a status. */
  readonly cell: (body: CellBody) => Promise<object | number>;
};

type Acquired = number | { readonly session_id: string; readonly cdp_ws_url: string };

export type CellBody = { readonly code: string; readonly timeout_sec: number; readonly reset: boolean };

export interface KernelService extends AsyncDisposable {
  readonly url: string;
  readonly acquires: number;
  readonly cells: readonly CellBody[];
  readonly releases: readonly { readonly session_id: string; readonly reuse: boolean }[];
}

export async function startKernelService({ acquire, cell }: KernelServiceOptions): Promise<KernelService> {
  const cells: CellBody[] = [];
  const releases: { session_id: string; reuse: boolean }[] = [];
  let acquires = 0;
  const answer = async (path: string, body: unknown): Promise<object | number> => {
    switch (path) {
      case '/browser_pools/training/acquire':
        acquires++;
        return acquire[Math.min(acquires, acquire.length) - 1];
      case '/browser_pools/training/release':
        releases.push(body as { session_id: string; reuse: boolean });
        return {};
      case '/browsers/one':
        return { session_id: 'one' };
      case '/browsers/one/repl':
        cells.push(body as CellBody);
        return cell(body as CellBody);
      default:
        return 404;
    }
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/browsers/one/computer/screenshot') {
      response.setHeader('content-type', 'image/png').end(Buffer.from('a picture'));
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const answered = await answer(request.url!, JSON.parse(Buffer.concat(chunks).toString() || 'null'));
    if (typeof answered === 'number') response.writeHead(answered).end();
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(answered));
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get acquires() {
      return acquires;
    },
    cells,
    releases,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** A browser that is clean, as far as cells that clean it can see. */
export async function cleanAlready({ code }: CellBody): Promise<object> {
  const answers: readonly (readonly [string, object])[] = [
    ['Target.getBrowserContexts', { browserContextIds: [] }],
    ['Target.createTarget', { targetId: 'blank' }],
    ['Target.getTargets', { targetInfos: [{ targetId: 'blank', type: 'page' }] }],
    ['Target.attachToTarget', { sessionId: 'session' }],
  ];
  const [, value] = answers.find(([method]) => code.includes(method)) ?? ['', {}];
  const content = code === '' ? [] : [{ type: 'text', channel: 'write', text: JSON.stringify(value) }];
  return { success: true, repl_id: 'r', content };
}
