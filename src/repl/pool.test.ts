import { afterEach, expect, test } from 'vitest';
import { createSessionPool, type PoolEvent, type SessionPool, type SessionPoolOptions } from './pool.ts';
import type { ReplSession, SessionHealth } from './session.ts';

const { signal: NEVER } = new AbortController();

/** Sessions that are objects: what a pool does with them is written down. */
function fakeSessions() {
  const made: FakeSession[] = [];
  const boot = async (): Promise<FakeSession> => {
    const fake = new FakeSession(made.length);
    made.push(fake);
    return fake;
  };
  return { made, boot };
}

class FakeSession {
  readonly number: number;
  episode = 0;
  disposed = 0;
  memory = 0;
  health: SessionHealth = { ok: true };
  failToRenew = false;
  result: object = { success: true, repl_id: 'r' };

  constructor(number: number) {
    this.number = number;
  }
  get session(): ReplSession {
    const id = `${this.number}.${this.episode}`;
    return {
      id,
      log: undefined,
      closed: false,
      execute: async () => this.result as never,
      navigate: async () => undefined,
      screenshot: async () => undefined,
      health: async () => this.health,
      memory: () => this.memory,
      [Symbol.asyncDispose]: async () => undefined,
    };
  }
  async renew(): Promise<void> {
    if (this.failToRenew) throw new Error('it does not come clean');
    this.episode++;
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.disposed++;
  }
}

let pool: SessionPool | undefined;
afterEach(() => pool?.[Symbol.asyncDispose]());

function open(options: Partial<SessionPoolOptions> & Pick<SessionPoolOptions, 'boot'>) {
  const events: PoolEvent[] = [];
  pool = createSessionPool({ sessions: 1, onEvent: (event) => events.push(event), ...options });
  return { pool, events, ended: () => events.filter(({ kind }) => kind === 'ended') };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('sessions are booted before anybody asks, no more than it may have', async () => {
  const { made, boot } = fakeSessions();
  const { pool } = open({ boot, sessions: 3 });
  await settled();
  expect(pool.state).toEqual({ lent: 0, idle: 3, preparing: 0 });
  expect(made).toHaveLength(3);
});

test('by default each episode gets a session that no other had', async () => {
  const { made, boot } = fakeSessions();
  const { pool, ended } = open({ boot });
  const ids: string[] = [];
  for (let episode = 0; episode < 3; episode++) {
    await using lease = await pool.acquire({ signal: NEVER });
    ids.push(lease.id);
  }
  expect(ids).toEqual(['0.0', '1.0', '2.0']);
  expect(made.slice(0, 3).map(({ disposed }) => disposed)).toEqual([1, 1, 1]);
  expect(ended()).toMatchObject([{ why: 'episodes' }, { why: 'episodes' }, { why: 'episodes' }]);
});

test('with more episodes a session is renewed in between, and ended after so many', async () => {
  const { boot } = fakeSessions();
  const { pool } = open({ boot, episodes: 2 });
  const ids: string[] = [];
  for (let episode = 0; episode < 4; episode++) {
    await using lease = await pool.acquire({ signal: NEVER });
    ids.push(lease.id);
  }
  expect(ids).toEqual(['0.0', '0.1', '1.0', '1.1']);
});

test('whoever waits longest is served first', async () => {
  const { boot } = fakeSessions();
  const { pool } = open({ boot, episodes: 9 });
  const first = await pool.acquire({ signal: NEVER });
  const order: number[] = [];
  const waiting = [1, 2, 3].map(async (number) => {
    await using _lease = await pool.acquire({ signal: NEVER });
    order.push(number);
  });
  await first[Symbol.asyncDispose]();
  await Promise.all(waiting);
  expect(order).toEqual([1, 2, 3]);
});

test.each([
  ['its runtime was terminated', { success: false, repl_id: 'r', error: 'crashed', repl_terminated: true }, 'crashed'],
  ['its cell failed', { success: false, repl_id: 'r', error: 'a ReferenceError' }, undefined],
])('a session serves on unless something was wrong with it: %s', async (_name, result, detail) => {
  const { made, boot } = fakeSessions();
  const { pool, ended } = open({ boot, episodes: 9 });
  {
    await using lease = await pool.acquire({ signal: NEVER });
    made[0].result = result;
    await lease.execute({ code: '0' });
    expect(lease.spoiled).toBe(detail);
  }
  expect(ended()).toEqual(detail === undefined ? [] : [{ kind: 'ended', why: 'spoiled', detail }]);
});

test('one that grew, one that does not renew and one that does not answer are ended and replaced', async () => {
  const { made, boot } = fakeSessions();
  const { pool, ended } = open({ boot, episodes: 9, memoryBytes: 100 });
  const ids: string[] = [];
  const play = async (prepare: (fake: FakeSession) => void): Promise<void> => {
    await using lease = await pool.acquire({ signal: NEVER });
    ids.push(lease.id);
    prepare(made.at(-1)!);
  };
  await play((fake) => (fake.memory = 101));
  await play((fake) => (fake.failToRenew = true));
  await play((fake) => (fake.health = { ok: false, reason: 'it hangs' }));
  await play(() => undefined);
  expect(ids).toEqual(['0.0', '1.0', '2.0', '3.0']);
  expect(ended()).toEqual([
    { kind: 'ended', why: 'memory', detail: '101 bytes, allowed are 100' },
    { kind: 'ended', why: 'not-renewed', detail: 'it does not come clean' },
    { kind: 'ended', why: 'unhealthy', detail: 'it hangs' },
  ]);
});

test('idle sessions are looked at, and one that died is replaced before anybody asks', async () => {
  const { made, boot } = fakeSessions();
  const { pool, ended } = open({ boot, checkEveryMs: 5 });
  await settled();
  made[0].health = { ok: false, reason: 'killed' };
  await expect.poll(ended).toHaveLength(1);
  await expect.poll(() => pool.state.idle).toBe(1);
  await using lease = await pool.acquire({ signal: NEVER });
  expect(lease.id).toBe('1.0');
});

test('a wait ends at its deadline or with its signal, and takes nothing with it', async () => {
  const { boot } = fakeSessions();
  const { pool } = open({ boot, episodes: 9 });
  const lease = await pool.acquire({ signal: NEVER });
  await expect(pool.acquire({ signal: NEVER, deadlineMs: 10 })).rejects.toMatchObject({
    boundary: 'browser',
    code: 'session-acquire-timeout',
    retryable: true,
  });
  const caller = new AbortController();
  const wait = pool.acquire({ signal: caller.signal });
  caller.abort(new Error('the run ends'));
  await expect(wait).rejects.toThrow('the run ends');
  await lease[Symbol.asyncDispose]();
  await using _next = await pool.acquire({ signal: NEVER });
  expect(pool.state.lent).toBe(1);
});

test('boots that keep failing are told to whoever waits, and tried again by the next', async () => {
  let tries = 0;
  const { boot } = fakeSessions();
  const { pool, events } = open({
    boot: async () => {
      if (++tries <= 3) throw new Error(`no display ${tries}`);
      return boot();
    },
  });
  await expect(pool.acquire({ signal: NEVER })).rejects.toMatchObject({
    code: 'session-not-started',
    message: 'no session could be started: no display 3',
  });
  expect(events.map(({ kind }) => kind)).toEqual(['boot-failed', 'boot-failed', 'boot-failed']);
  await using lease = await pool.acquire({ signal: NEVER });
  expect(lease.id).toBe('0.0');
});

test('the end of the pool ends every session, those that are lent as well', async () => {
  const { made, boot } = fakeSessions();
  const { pool } = open({ boot, sessions: 2 });
  const lease = await pool.acquire({ signal: NEVER });
  await pool[Symbol.asyncDispose]();
  expect(made.map(({ disposed }) => disposed)).toEqual([1, 1]);
  await lease[Symbol.asyncDispose]();
  await expect(pool.acquire({ signal: NEVER })).rejects.toMatchObject({ code: 'pool-closed' });
  expect(made).toHaveLength(2);
});

test('a session that was given back can be used no more', async () => {
  const { boot } = fakeSessions();
  const { pool } = open({ boot });
  const lease = await pool.acquire({ signal: NEVER });
  await lease[Symbol.asyncDispose]();
  await lease[Symbol.asyncDispose]();
  await expect(lease.execute({ code: '0' })).rejects.toMatchObject({ code: 'session-given-back' });
  expect(lease.closed).toBe(true);
});
