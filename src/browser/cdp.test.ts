import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { connectCdp } from './cdp.ts';

function connect() {
  const input = new PassThrough();
  const output = new PassThrough();
  const cdp = connectCdp(input, output);
  const sent = async (): Promise<Record<string, unknown>[]> => {
    await new Promise((resolve) => setImmediate(resolve)); // what is said in a turn goes out at its end
    return String((input.read() as Buffer | null) ?? '')
      .split('\0')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as Record<string, unknown>);
  };
  const receive = (...messages: unknown[]): void =>
    void output.write(messages.map((message) => `${JSON.stringify(message)}\0`).join(''));
  return { cdp, output, sent, receive };
}

test('answers find their calls by id, whatever their order', async () => {
  const { cdp, sent, receive } = connect();
  const first = cdp.root.send('Browser.getVersion');
  const second = cdp.session('S').send('Runtime.evaluate', { expression: '1' });
  expect(await sent()).toEqual([
    { id: 1, method: 'Browser.getVersion', params: {} },
    { id: 2, method: 'Runtime.evaluate', params: { expression: '1' }, sessionId: 'S' },
  ]);
  receive({ id: 2, result: { result: { type: 'number', value: 1 } } }, { id: 1, result: { product: 'X/1' } });
  expect((await first).product).toBe('X/1');
  expect((await second).result.value).toBe(1);
});

test('calls of one turn go out as one write, those of the next as another', async () => {
  const writes: number[] = [];
  const input = new Writable({
    writev: (chunks, done) => {
      writes.push(chunks.length);
      done();
    },
    write: (_chunk, _encoding, done) => {
      writes.push(1);
      done();
    },
  });
  const cdp = connectCdp(input, new PassThrough());
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const call = (): void => void cdp.root.send('Browser.getVersion').catch(() => undefined);
  call();
  await Promise.resolve();
  call();
  call();
  await turn();
  call();
  await turn();
  expect(writes).toEqual([3, 1]);
});

test('a message split inside a character is put together again', async () => {
  const { cdp, output } = connect();
  const call = cdp.root.send('Browser.getVersion');
  const bytes = Buffer.from(`${JSON.stringify({ id: 1, result: { product: 'é漢🙂' } })}\0`);
  for (const byte of bytes) output.write(Buffer.of(byte));
  expect((await call).product).toBe('é漢🙂');
});

test('an error of the browser keeps its method, code and words', async () => {
  const { cdp, receive } = connect();
  const call = cdp.root.send('Browser.getVersion');
  receive({ id: 1, error: { code: -32000, message: 'No node' } });
  await expect(call).rejects.toMatchObject({
    code: 'protocol-error',
    details: { method: 'Browser.getVersion', protocolCode: -32000, protocolMessage: 'No node' },
  });
});

test('calls of a session that went away are settled, those of others are not', async () => {
  const { cdp, receive } = connect();
  const gone = cdp.session('A').send('Page.enable');
  const stays = cdp.session('B').send('Page.enable');
  receive({ method: 'Target.detachedFromTarget', params: { sessionId: 'A' } }, { id: 2, result: {} });
  await expect(gone).rejects.toMatchObject({ boundary: 'browser', code: 'page-closed', retryable: true });
  await expect(stays).resolves.toEqual({});
});

test('when the pipe closes every call fails, now and later', async () => {
  const { cdp, output } = connect();
  const call = cdp.root.send('Browser.getVersion');
  output.destroy();
  await expect(call).rejects.toMatchObject({ boundary: 'browser', code: 'browser-closed', retryable: true });
  await expect(cdp.root.send('Browser.getVersion')).rejects.toMatchObject({ code: 'browser-closed' });
});

test('events reach the listeners of their session until they leave', async () => {
  const { cdp, receive } = connect();
  const heard: number[] = [];
  const off = cdp.session('A').on('Page.loadEventFired', ({ timestamp }) => heard.push(timestamp));
  const event = (sessionId: string, timestamp: number): unknown => ({
    sessionId,
    method: 'Page.loadEventFired',
    params: { timestamp },
  });
  receive(event('A', 1), event('B', 2), event('A', 3));
  await expect.poll(() => heard).toEqual([1, 3]);
  off();
  const last = cdp.session('A').send('Page.enable');
  receive(event('A', 4), { id: 1, result: {} });
  await last;
  expect(heard).toEqual([1, 3]);
});
