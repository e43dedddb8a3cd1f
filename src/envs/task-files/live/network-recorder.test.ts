// The recorder on a connection of the test's own, where the browser can be made to hang.

import { expect, it } from 'vitest';
import type { CdpConnection, CdpMessage } from '../../../browser/index.ts';
import { recordNetwork } from './network-recorder.ts';

const { signal } = new AbortController();

function browser() {
  let hangs = false;
  let tell: (message: CdpMessage) => void = () => undefined;
  const answer = (): Promise<unknown> => (hangs ? new Promise(() => undefined) : Promise.resolve({}));
  const connection = {
    root: { id: undefined, send: answer, on: () => () => undefined },
    closed: false,
    request: answer,
    onMessage: (listener: typeof tell) => ((tell = listener), () => undefined),
    close: () => undefined,
  } as unknown as CdpConnection;
  return {
    connection,
    hang: () => void (hangs = true),
    tell: (method: string, params: object) => tell({ method, params, sessionId: 'page' }),
  };
}

const sent = (requestId: string): object => ({
  requestId,
  type: 'Fetch',
  request: { url: `http://a.test/${requestId}`, method: 'GET', headers: {} },
});

it('a browser that hangs when it is asked what it sent is given up', async () => {
  const { connection, hang } = browser();
  const recorder = await recordNetwork({ connection, signal, answerMs: 5 });
  hang();
  await expect(recorder.requests({ signal })).rejects.toMatchObject({ boundary: 'browser', code: 'browser-hangs' });
});

it('keeps requests in the order in which they were sent, and says when there were more than it keeps', async () => {
  const { connection, tell } = browser();
  const recorder = await recordNetwork({ connection, signal, maxRequests: 2, settleMs: 0 });
  for (const id of ['1', '2']) tell('Network.requestWillBeSent', sent(id));
  expect(recorder.overflow).toBe(false);
  tell('Network.requestWillBeSent', sent('3'));
  expect((await recorder.requests({ signal })).map(({ url }) => url)).toEqual(['http://a.test/1', 'http://a.test/2']);
  expect(recorder.overflow).toBe(true);
});

it('keeps so many characters in all, and begins nothing new beyond them', async () => {
  const { connection, tell } = browser();
  const recorder = await recordNetwork({ connection, signal, maxCharacters: 1_000, settleMs: 0 });
  tell('Network.requestWillBeSent', sent('1'));
  tell('Network.requestWillBeSentExtraInfo', { requestId: '1', headers: { Cookie: 'x'.repeat(960) } });
  expect(recorder.overflow).toBe(false);
  tell('Network.responseReceivedExtraInfo', { requestId: '1', headers: { 'Set-Cookie': 'x'.repeat(60) } });
  expect(recorder.overflow).toBe(true);
  tell('Network.requestWillBeSent', sent('2'));
  tell('Network.requestWillBeSentExtraInfo', { requestId: '3', headers: { Cookie: 'a=b' } });
  expect((await recorder.requests({ signal })).map(({ url }) => url)).toEqual(['http://a.test/1']);
});

it('knows a tab’s own page from a frame’s, and from what a page asks for', async () => {
  const { connection, tell } = browser();
  const recorder = await recordNetwork({ connection, signal, settleMs: 0 });
  const attach = (sessionId: string, type: string): void =>
    tell('Target.attachedToTarget', { sessionId, targetInfo: { type, targetId: 'T' } });
  attach('page', 'page');
  const asks = (requestId: string, type: string, frameId: string): void =>
    tell('Network.requestWillBeSent', { ...sent(requestId), type, frameId });
  asks('page', 'Document', 'T');
  asks('frame', 'Document', 'F');
  asks('fetch', 'Fetch', 'T');
  expect((await recorder.requests({ signal })).map(({ page }) => page)).toEqual([true, false, false]);
});

it('says that a body is too long, instead of leaving it away', async () => {
  const { connection, tell } = browser();
  const recorder = await recordNetwork({ connection, signal, settleMs: 0 });
  const post = (requestId: string, postData: string): void =>
    tell('Network.requestWillBeSent', {
      requestId,
      type: 'Fetch',
      request: { url: 'http://a.test/', method: 'POST', headers: {}, postData },
    });
  post('1', 'a=b');
  post('2', 'x'.repeat((2 << 20) + 1));
  const requests = await recorder.requests({ signal });
  expect(requests.map(({ body, tooLong }) => [body, tooLong])).toEqual([
    ['a=b', false],
    [null, true],
  ]);
});
