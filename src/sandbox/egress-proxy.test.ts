import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEgressProxy, type EgressEvent } from './egress-proxy.ts';

let site: Server;
let port: number;
beforeAll(async () => {
  site = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk) => (body += String(chunk)));
    incoming.on('end', () => {
      response.setHeader('Set-Cookie', ['a=1', 'b=2']);
      response.end(JSON.stringify({ method: incoming.method, url: incoming.url, headers: incoming.headers, body }));
    });
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  port = (site.address() as AddressInfo).port;
});
afterAll(() => void site.close());

type Answer = { readonly status: number; readonly body: string; readonly cookies: readonly string[] };

async function ask(
  socketPath: string,
  path: string,
  options: { body?: string; headers?: object } = {},
): Promise<Answer> {
  const outgoing = request({
    socketPath,
    path,
    method: options.body === undefined ? 'GET' : 'POST',
    headers: { ...options.headers },
  });
  outgoing.end(options.body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode!, body, cookies: response.headers['set-cookie'] ?? [] };
}

const local = () => ({ host: '127.0.0.1', port });

test('a request to a listed server comes back whole, and the log names the address', async () => {
  const events: EgressEvent[] = [];
  await using proxy = await createEgressProxy({ rules: [local()], onRequest: (event) => events.push(event) });
  const headers = { 'Proxy-Connection': 'keep-alive', Host: 'another.host', 'X-Kept': 'yes' };
  const answer = await ask(proxy.socket, `http://127.0.0.1:${port}/path?query`, { body: 'form=1', headers });
  expect(answer).toMatchObject({ status: 200, cookies: ['a=1', 'b=2'] });
  const seen = JSON.parse(answer.body) as { headers: Record<string, string> };
  expect(seen).toMatchObject({ method: 'POST', url: '/path?query', body: 'form=1' });
  expect(seen.headers).toMatchObject({ host: `127.0.0.1:${port}`, 'x-kept': 'yes', connection: 'close' });
  expect(seen.headers).not.toHaveProperty('proxy-connection');
  expect(events).toEqual([{ host: '127.0.0.1', port, address: '127.0.0.1' }]);
});

test('a request to another server is refused, in words, and logged', async () => {
  const events: EgressEvent[] = [];
  await using proxy = await createEgressProxy({ rules: [local()], onRequest: (event) => events.push(event) });
  const answer = await ask(proxy.socket, `http://localhost:${port}/`);
  expect(answer.status).toBe(403);
  expect(answer.body).toContain('not on the list');
  expect(events).toMatchObject([{ host: 'localhost', port, reason: expect.stringContaining('list') as string }]);
});

test('a name is looked up anew for each connection, so that one that changes its address is found out', async () => {
  const answers = [['127.0.0.1'], ['169.254.169.254']];
  await using proxy = await createEgressProxy({
    rules: [{ host: 'rebinding.test', port }],
    lookup: async () => answers.shift()!,
  });
  for (const address of ['127.0.0.1', '169.254.169.254']) {
    const answer = await ask(proxy.socket, `http://rebinding.test:${port}/`);
    expect(answer.status).toBe(403);
    expect(answer.body).toContain(address);
  }
});

test.each(['/path', 'https://example.com/', 'ftp://127.0.0.1/', 'file:///etc/passwd', 'http://'])(
  'a request that is none for a proxy is refused: %s',
  async (path) => {
    await using proxy = await createEgressProxy({ rules: [{ host: '*' }] });
    expect((await ask(proxy.socket, path)).status).toBe(400);
  },
);

async function tunnelTo(socketPath: string, authority: string): Promise<{ status: number; socket: Socket }> {
  const outgoing = request({ socketPath, method: 'CONNECT', path: authority });
  outgoing.end();
  const [response, socket] = (await once(outgoing, 'connect')) as [IncomingMessage, Socket];
  return { status: response.statusCode!, socket };
}

test('a tunnel carries bytes both ways and ends with its server', async () => {
  const echo = createTcpServer((socket) => socket.once('data', (data) => socket.end(`echo ${String(data)}`)));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const listed = { host: '127.0.0.1', port: (echo.address() as AddressInfo).port };
  await using proxy = await createEgressProxy({ rules: [listed] });
  const { status, socket } = await tunnelTo(proxy.socket, `127.0.0.1:${listed.port}`);
  expect(status).toBe(200);
  let text = '';
  socket.on('data', (data) => (text += String(data)));
  socket.write('hello');
  await once(socket, 'end');
  expect(text).toBe('echo hello');
  echo.close();
});

test.each(['127.0.0.1:1', 'localhost:443', '[::1]:443', '169.254.169.254:80'])('no tunnel to %s', async (authority) => {
  await using proxy = await createEgressProxy({ rules: [{ host: '*' }] });
  const { status, socket } = await tunnelTo(proxy.socket, authority);
  expect(status).toBe(403);
  socket.destroy();
});

test.each(['127.0.0.1', 'user@127.0.0.1:80', '127.0.0.1:80/path', '[127.0.0.1:80', ':80'])(
  'a tunnel to what is no authority is refused: %s',
  async (authority) => {
    await using proxy = await createEgressProxy({ rules: [{ host: '*' }] });
    const { status, socket } = await tunnelTo(proxy.socket, authority);
    expect(status).toBe(400);
    socket.destroy();
  },
);

test('a server that nobody is behind is a bad gateway', async () => {
  const closed = createTcpServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const listed = { host: '127.0.0.1', port: (closed.address() as AddressInfo).port };
  closed.close();
  await once(closed, 'close');
  await using proxy = await createEgressProxy({ rules: [listed] });
  expect((await ask(proxy.socket, `http://127.0.0.1:${listed.port}/`)).status).toBe(502);
});

test('rubbish ends its own connection and no other', async () => {
  await using proxy = await createEgressProxy({ rules: [local()] });
  const rubbish = connect({ path: proxy.socket });
  rubbish.on('error', () => undefined);
  rubbish.write(Buffer.alloc(100_000, 0xff));
  await new Promise((resolve) => rubbish.once('close', resolve));
  expect((await ask(proxy.socket, `http://127.0.0.1:${port}/`)).status).toBe(200);
});

test('the end of the proxy ends its connections', async () => {
  const silent = createTcpServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const listed = { host: '127.0.0.1', port: (silent.address() as AddressInfo).port };
  const proxy = await createEgressProxy({ rules: [listed] });
  const { socket } = await tunnelTo(proxy.socket, `127.0.0.1:${listed.port}`);
  const ended = once(socket, 'close');
  socket.resume();
  await proxy[Symbol.asyncDispose]();
  await ended;
  silent.close();
});
