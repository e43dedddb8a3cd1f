import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { connectRemoteCdp } from './remote-cdp.ts';

type Command = { readonly id: number; readonly method: string; readonly sessionId?: string };

async function startEndpoint(answer: (command: Command, send: (message: object) => void, drop: () => void) => void) {
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    if (request.url === '/json/version') {
      response.end(JSON.stringify({ webSocketDebuggerUrl: `ws://127.0.0.1:${port}/devtools/browser/x` }));
    } else response.writeHead(404).end();
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (client) =>
    client.on('message', (data: Buffer) =>
      answer(
        JSON.parse(data.toString()) as Command,
        (message) => client.send(JSON.stringify(message)),
        () => client.terminate(),
      ),
    ),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

test.each(['ws', 'http'])('commands, answers and events pass over a WebSocket that is named by %s', async (scheme) => {
  await using endpoint = await startEndpoint(({ id, method, sessionId }, send) => {
    send({ method: 'Target.targetCreated', params: { of: method }, sessionId: 'page' });
    send({ id, result: { sessionId, long: 'x'.repeat(1_000_000) } });
  });
  const cdp = await connectRemoteCdp({ endpoint: `${scheme}://${endpoint.host}` });
  const seen: unknown[] = [];
  cdp.onMessage((message) => seen.push(message));
  const answers = await Promise.all(['a', 'b'].map((sessionId) => cdp.request('Page.enable', {}, sessionId)));
  expect(answers).toMatchObject([{ sessionId: 'a' }, { sessionId: 'b' }]);
  expect((answers[0] as { long: string }).long).toHaveLength(1_000_000);
  expect(seen).toHaveLength(2);
  cdp.close();
  await expect(cdp.root.send('Browser.getVersion')).rejects.toMatchObject({ code: 'browser-closed' });
});

test('what is in flight when the connection breaks is told', async () => {
  await using endpoint = await startEndpoint((_command, _send, drop) => drop());
  const cdp = await connectRemoteCdp({ endpoint: `ws://${endpoint.host}` });
  await expect(cdp.root.send('Browser.getVersion')).rejects.toMatchObject({ code: 'browser-closed' });
  expect(cdp.closed).toBe(true);
});

test('an endpoint that is not there or does not answer is named, without its key', async () => {
  await expect(connectRemoteCdp({ endpoint: 'ws://127.0.0.1:9/devtools?jwt=secret' })).rejects.toMatchObject({
    boundary: 'browser',
    code: 'remote-unreachable',
    message: expect.stringMatching(/^the browser at ws:\/\/127\.0\.0\.1:9\/devtools cannot be reached/) as string,
  });
  const silent = createTcpServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  try {
    for (const scheme of ['http', 'ws']) {
      await expect(connectRemoteCdp({ endpoint: `${scheme}://${host}`, deadlineMs: 20 })).rejects.toMatchObject({
        code: 'remote-unreachable',
        details: { reason: 'no connection within 20 ms' },
      });
    }
    const caller = new AbortController();
    const wait = connectRemoteCdp({ endpoint: `ws://${host}`, signal: caller.signal });
    caller.abort(new Error('the run ends'));
    await expect(wait).rejects.toThrow('the run ends');
  } finally {
    silent.close();
  }
});
