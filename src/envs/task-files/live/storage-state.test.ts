import { afterEach, expect, it, vi } from 'vitest';
import type { CdpConnection } from '../../../browser/index.ts';
import { applyStorageState, readStorageState, withoutDatabases } from './storage-state.ts';

const { signal } = new AbortController();
const cookie = (name: string, expires: number): object => ({ name, value: 'v', domain: 'a.test', expires });

afterEach(() => vi.useRealTimers());

function connectionWith(send: (method: string, params: object) => Promise<unknown>): CdpConnection {
  return { root: { id: undefined, send, on: () => () => undefined }, closed: false } as unknown as CdpConnection;
}

it('cookies that have run out are left out', async () => {
  const set: unknown[] = [];
  const connection = connectionWith((_method, params) => Promise.resolve(set.push(params)));
  const text = JSON.stringify({ cookies: [cookie('kept', -1), cookie('later', 20), cookie('old', 9)] });
  await applyStorageState(connection, readStorageState(text, 'state.json'), { signal, now: 10_000 });
  const common = { value: 'v', domain: 'a.test', path: '/', httpOnly: false, secure: false };
  expect(set).toEqual([
    {
      cookies: [
        { name: 'kept', ...common },
        { name: 'later', ...common, expires: 20 },
      ],
    },
  ]);
});

it('a browser that hangs under them is given up', async () => {
  vi.useFakeTimers();
  const connection = connectionWith(() => new Promise(() => undefined));
  const state = readStorageState(JSON.stringify({ cookies: [cookie('kept', -1)] }), 'state.json');
  const applied = expect(applyStorageState(connection, state, { signal })).rejects.toMatchObject({
    boundary: 'browser',
    code: 'storage-state-failed',
  });
  await vi.advanceTimersByTimeAsync(30_000);
  await applied;
});

it.each([
  [
    { name: 'b;c' },
    /state\.json is no storage state: its cookie "b;c" of "a\.test" \(cookies\.1\) has a name with a semi/,
  ],
  [{ name: ' b' }, /has a name/],
  [{ name: 'b=c' }, /has a name/],
  [{ value: 'x;y' }, /has a value/],
  [{ value: 'x\ny' }, /has a value/],
  [{ value: 'x'.repeat(5000) }, /has more than 4096 bytes/],
  [{ domain: 'x y' }, /has a domain that is no host/],
  [{ domain: 'http://a.test' }, /has a domain/],
  [{ domain: '..a.test' }, /has a domain/],
  [{ domain: 'a%b.test' }, /has a domain/],
  [{ domain: '::1' }, /has a domain/],
  [{ path: 'x' }, /has a path/],
  [{ path: '/a;b' }, /has a path/],
  [{ name: '__Secure-a' }, /has a name with __Secure- and is not secure/],
  [{ name: '__Host-a', secure: true, path: '/x' }, /a path that is not \//],
])('a cookie that a browser refuses is told before one starts: %j', (more, message) => {
  const cookies = [cookie('kept', -1), { ...cookie('a', -1), ...more }];
  const read = (): unknown => readStorageState(JSON.stringify({ cookies }), 'state.json');
  expect(read).toThrow(message);
  expect(read).toThrow(expect.objectContaining({ boundary: 'config' }));
});

it.each([
  { domain: '.a.test' },
  { domain: '127.0.0.1' },
  { domain: '[::1]' },
  { domain: 'localhost' },
  { domain: 'a_b.test' },
  { domain: 'm\u00fcnchen.de' },
  { value: '"a b",c\u00e9=' },
  { name: '' },
  { path: '/\u00e9' },
  { name: '__Host-a', secure: true },
])('a cookie that a browser takes: %j', (more) => {
  const text = JSON.stringify({ cookies: [{ ...cookie('a', -1), ...more }] });
  expect(readStorageState(text, 'state.json').cookies).toHaveLength(1);
});

it('a state without cookies and local storage is none; whose databases are left out is known', () => {
  const database = { origin: 'http://a.test', indexedDB: [{ name: 'db' }] };
  expect(() => readStorageState(JSON.stringify({ origins: [database] }), 'state.json')).toThrow(/holds no cookies/);
  const text = JSON.stringify({ cookies: [cookie('a', -1)], origins: [database, { origin: 'http://b.test' }] });
  expect(withoutDatabases(readStorageState(text, 'state.json'))).toEqual(['http://a.test']);
});
