import { beforeEach, expect, test } from 'vitest';
import { LIMITS } from './cell/limits.ts';
import type { RawClient, RawCommand } from './cell-calls.ts';
import { serveEndpoint, type ServedEndpoint } from './serve-endpoint.ts';

type Sent = {
  readonly type: string;
  readonly connection: number;
  readonly reason?: string;
  readonly message?: { readonly id?: number; readonly error?: { readonly message: string } };
};

let sent: Sent[];
let got: RawCommand[];
let clients: RawClient[];
let closed: number;
let unread: number;
let at: number;
let endpoint: ServedEndpoint;
beforeEach(() => {
  [sent, got, clients, closed, unread, at] = [[], [], [], 0, 0, 0];
  endpoint = serveEndpoint({
    connect(client) {
      clients.push(client);
      return { command: (command) => void got.push(command), close: () => void closed++ };
    },
    send: (json) => void sent.push(JSON.parse(json) as Sent),
    unreadBytes: () => unread,
    context: () => ({ cell: 1 }),
    now: () => at,
  });
});

function command(id: number, { connection = 1, bytes = 100 } = {}): void {
  endpoint.receive({ type: 'cdp-command', connection, id, method: 'Page.enable', params: {} }, bytes);
}
const open = (connection: number): void => endpoint.receive({ type: 'cdp-open', connection }, 10);
const refusals = (): readonly string[] => sent.flatMap(({ message }) => message?.error?.message ?? []);

test('commands reach their connection, and what it answers its client', () => {
  open(1);
  command(0);
  clients[0].send({ id: 0, result: { a: 1 } });
  expect(got).toEqual([{ id: 0, method: 'Page.enable', params: {}, sessionId: undefined }]);
  expect(sent).toEqual([{ type: 'cdp-message', connection: 1, message: { id: 0, result: { a: 1 } } }]);
});

test('256 commands may be in flight; one that is answered makes room, an id in flight is not taken twice', () => {
  open(1);
  for (let id = 0; id < 257; id++) command(id);
  command(0);
  expect(got).toHaveLength(256);
  expect(refusals()).toEqual([
    'CDP Page.enable refused: 256 commands are in flight already',
    'CDP Page.enable refused: a command with the id 0 is in flight',
  ]);
  clients[0].send({ id: 7, result: {} });
  command(300);
  expect(got).toHaveLength(257);
});

test('a command may have 8 MiB, and all in flight 64 MiB', () => {
  open(1);
  command(0, { bytes: LIMITS.cdpCommandBytes + 1 });
  for (let id = 1; id <= 9; id++) command(id, { bytes: LIMITS.cdpCommandBytes });
  expect(got.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(refusals()).toEqual([
    `CDP Page.enable refused: it takes 8388609 bytes; the limit is 8388608`,
    'CDP Page.enable refused: the commands in flight are too large together',
  ]);
  // A connection that ends gives back what its commands took.
  endpoint.receive({ type: 'cdp-close', connection: 1 }, 10);
  open(2);
  command(1, { connection: 2, bytes: LIMITS.cdpCommandBytes });
  expect(got).toHaveLength(9);
});

test('2,000 commands may come at once, and as many a second after that', () => {
  open(1);
  const answered = (id: number): void => {
    command(id);
    clients[0].send({ id, result: {} });
  };
  for (let id = 0; id < 2_100; id++) answered(id);
  expect(got).toHaveLength(2_000);
  expect(refusals()).toHaveLength(100);
  at += 500;
  for (let id = 0; id < 1_100; id++) answered(id);
  expect(got).toHaveLength(3_000);
});

test('8 connections may be open; the next is ended, and numbers are used once', () => {
  for (let connection = 1; connection <= 9; connection++) open(connection);
  expect(clients).toHaveLength(8);
  expect(sent).toEqual([{ type: 'cdp-ended', connection: 9, reason: '8 connections are open already' }]);
  expect(() => open(9)).toThrow('connection 9 has been there already');
  expect(() => open(1)).toThrow('connection 1 has been there already');
});

test('a client that does not read is ended, and so is one for which a message is too large', () => {
  open(1);
  open(2);
  unread = 33 * 1024 * 1024;
  clients[0].send({ method: 'Page.loadEventFired', params: {} });
  unread = 0;
  clients[1].send({ method: 'Page.screencastFrame', params: { data: 'x'.repeat(33 * 1024 * 1024) } });
  expect(sent.map(({ type, connection }) => [type, connection])).toEqual([
    ['cdp-ended', 1],
    ['cdp-ended', 2],
  ]);
  expect(closed).toBe(2);
});

test('a connection that has ended takes no commands; the end of the cell ends all', () => {
  open(1);
  clients[0].ended('the browser is gone');
  command(1);
  expect(got).toEqual([]);
  open(2);
  open(3);
  endpoint.close();
  expect(closed).toBe(3);
});
