import { afterEach, expect, it, vi } from 'vitest';
import type { CdpConnection } from '../../../browser/index.ts';
import { applyStorageState, readStorageState } from './storage-state.ts';

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
