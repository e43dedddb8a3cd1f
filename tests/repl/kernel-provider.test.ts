// The provider for Kernel's pools, over the official SDK: what it asks for, what it gives back, and what it never sends
// twice.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Kernel from '@onkernel/sdk';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { openLocalSession } from '../../src/repl/local-session.ts';
import { createKernelProvider, type KernelEvent, type KernelProviderOptions } from '../../src/repl/providers/kernel.ts';
import { cleanAlready, startKernelService, type KernelService, type KernelServiceOptions } from './kernel-service.ts';
import { leave, leaveTraps, look, serveTraceSite } from './traces.ts';

const { signal: NEVER } = new AbortController();
const BROWSER = { session_id: 'one', cdp_ws_url: '' };

type UnderTest = Partial<KernelServiceOptions & Pick<KernelProviderOptions, 'episodes' | 'heartbeatMs'>>;

async function start({ acquire = [BROWSER], cell = cleanAlready, ...options }: UnderTest = {}) {
  const service = await startKernelService({ acquire, cell });
  const events: KernelEvent[] = [];
  const provider = createKernelProvider({
    client: new Kernel({ apiKey: 'none', baseURL: service.url }),
    pool: 'training',
    retryMs: 1,
    onEvent: (event) => events.push(event),
    ...options,
  });
  return {
    service,
    events,
    provider,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

/** Answers the cleaning, and to one cell by `answer`. */
function answering(code: string, answer: object | number): KernelServiceOptions['cell'] {
  return async (body) => (body.code === code ? answer : cleanAlready(body));
}

const sent = (service: KernelService, code: string): number =>
  service.cells.filter((cell) => cell.code === code).length;

test('it asks until the pool has a browser: empty answers, too many requests and faults of the service pass', async () => {
  await using under = await start({ acquire: [204, 204, 429, 503, BROWSER] });
  await using lease = await under.provider.acquire({ signal: NEVER });
  expect(lease.id).toBe('one');
  expect(under.service.acquires).toBe(5);
});

test('what will not pass is an error at once, and a pool without browsers one at the deadline', async () => {
  await using refusing = await start({ acquire: [401] });
  await expect(refusing.provider.acquire({ signal: NEVER })).rejects.toMatchObject({
    boundary: 'browser',
    code: 'kernel-not-acquired',
    details: { status: 401 },
  });
  expect(refusing.service.acquires).toBe(1);
  await using empty = await start({ acquire: [204] });
  await expect(empty.provider.acquire({ signal: NEVER, deadlineMs: 50 })).rejects.toMatchObject({
    code: 'session-acquire-timeout',
    retryable: true,
  });
});

test('a browser that comes when nobody waits any more is given back', async () => {
  let give = (_browser: typeof BROWSER): void => undefined;
  await using under = await start({ acquire: [new Promise((resolve) => (give = resolve))] });
  const caller = new AbortController();
  const wait = under.provider.acquire({ signal: caller.signal });
  await expect.poll(() => under.service.acquires).toBe(1);
  caller.abort(new Error('the run ends'));
  await expect(wait).rejects.toThrow('the run ends');
  give(BROWSER);
  await expect.poll(() => under.service.releases).toEqual([{ session_id: 'one', reuse: true }]);
  expect(under.service.cells).toEqual([]);
});

test('one whose cleaning is given up is given back to be destroyed', async () => {
  await using under = await start({ cell: () => new Promise(() => undefined) });
  const caller = new AbortController();
  const wait = under.provider.acquire({ signal: caller.signal });
  await expect.poll(() => under.service.cells.length).toBe(1);
  caller.abort(new Error('the run ends'));
  await expect(wait).rejects.toThrow('the run ends');
  await expect.poll(() => under.service.releases).toEqual([{ session_id: 'one', reuse: false }]);
});

test('an episode gets another runtime and a clean browser, and its browser serves again a number of times', async () => {
  await using under = await start({ episodes: 2 });
  for (let episode = 0; episode < 2; episode++) {
    await using lease = await under.provider.acquire({ signal: NEVER });
    await lease.execute({ code: 'a cell that writes' });
  }
  const { cells, releases } = under.service;
  expect(releases).toEqual([
    { session_id: 'one', reuse: true },
    { session_id: 'one', reuse: false },
  ]);
  expect([cells[0], cells.findLast(({ code }) => code === '')]).toMatchObject([{ reset: true }, { reset: true }]);
  for (const step of ['Target.closeTarget', 'Network.clearBrowserCookies', 'Storage.clearDataForOrigin']) {
    const times = cells.filter(({ code }) => code.includes(step)).length;
    expect([step, times]).toEqual([step, step === 'Target.closeTarget' ? 0 : 2]);
  }
});

test('a cell is sent once, whatever became of it, and its browser is given back to be destroyed', async () => {
  await using under = await start({ cell: answering('fail', 500) });
  {
    await using lease = await under.provider.acquire({ signal: NEVER });
    await expect(lease.execute({ code: 'fail' })).rejects.toMatchObject({
      boundary: 'browser',
      code: 'kernel-cell-failed',
      details: { status: 500 },
      retryable: false,
    });
  }
  expect(sent(under.service, 'fail')).toBe(1);
  expect(under.service.releases).toEqual([{ session_id: 'one', reuse: false }]);
});

test('a terminated runtime spoils the browser; a failing cell and a refused one do not', async () => {
  const failing = { success: false, repl_id: 'r', error: 'ReferenceError: x is not defined' };
  for (const [answer, reuse] of [
    [{ ...failing, repl_terminated: true }, false],
    [failing, true],
    [400, true],
  ] as const) {
    await using under = await start({ cell: answering('x', answer) });
    const lease = await under.provider.acquire({ signal: NEVER });
    const cell = lease.execute({ code: 'x' });
    if (answer === 400) await expect(cell).rejects.toMatchObject({ code: 'cell-refused' });
    else expect(await cell).toEqual(answer);
    await lease[Symbol.asyncDispose]();
    expect(under.service.releases).toEqual([{ session_id: 'one', reuse }]);
  }
});

test('one that does not come clean is given back to be destroyed; the third one is an error', async () => {
  const broken = { success: false, repl_id: 'r', error: 'CDP Target.createTarget failed' };
  await using under = await start({
    cell: async (body) => (body.code.includes('createTarget') ? broken : cleanAlready(body)),
  });
  await expect(under.provider.acquire({ signal: NEVER })).rejects.toMatchObject({ code: 'not-clean' });
  expect(under.service.releases).toEqual(Array(3).fill({ session_id: 'one', reuse: false }));
});

test('cells carry their deadline and screenshots are of the whole screen', async () => {
  await using under = await start({ cell: answering('x', { success: true, repl_id: 'r' }) });
  await using lease = await under.provider.acquire({ signal: NEVER });
  await lease.execute({ code: 'x', timeoutMs: 2_500 });
  expect(under.service.cells.at(-1)).toEqual({ code: 'x', timeout_sec: 3, reset: false });
  expect(Buffer.from((await lease.screenshot({ signal: NEVER }))!).toString()).toBe('a picture');
});

test('a browser that is lent hears from us while nobody acts, and one that falls silent is spoiled', async () => {
  const socket = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  try {
    await once(socket, 'listening');
    let beats = 0;
    let answers = true;
    socket.on('connection', (client) =>
      client.on('message', (data: Buffer) => {
        const { id, method } = JSON.parse(data.toString()) as { id: number; method: string };
        if (method === 'Browser.getVersion') beats++;
        if (answers) client.send(JSON.stringify({ id, result: {} }));
        else client.terminate();
      }),
    );
    const cdp_ws_url = `ws://127.0.0.1:${(socket.address() as AddressInfo).port}/?jwt=secret`;
    await using under = await start({ acquire: [{ session_id: 'one', cdp_ws_url }], heartbeatMs: 5 });
    {
      await using lease = await under.provider.acquire({ signal: NEVER });
      await expect.poll(() => beats).toBeGreaterThan(3);
      expect(lease.spoiled).toBeUndefined();
      answers = false;
      await expect.poll(() => lease.spoiled).toBeDefined();
    }
    const after = beats;
    expect(under.service.releases).toEqual([{ session_id: 'one', reuse: false }]);
    await new Promise((done) => setTimeout(done, 20));
    expect(beats).toBe(after);
  } finally {
    for (const client of socket.clients) client.terminate();
    socket.close();
  }
});

test('nothing of an episode is left in a real browser that serves again', async () => {
  await using site = await serveTraceSite();
  await using session = await openLocalSession({ jail: 'unsafe-local' }, NEVER);
  await using under = await start({
    cell: ({ code, timeout_sec, reset }) => session.execute({ code, timeoutMs: timeout_sec * 1000, reset }),
  });
  let fresh;
  {
    await using first = await under.provider.acquire({ signal: NEVER });
    fresh = await look(first, site);
    await leave(first, site);
    await leaveTraps(first);
  }
  await using second = await under.provider.acquire({ signal: NEVER });
  const { files, ...found } = await look(second, site);
  // The folder of the machine is reached by no command; whoever writes there is given back to be destroyed by its count.
  expect(files).toEqual(['left.png']);
  expect({ ...found, files: fresh.files }).toEqual(fresh);
}, 60_000);
