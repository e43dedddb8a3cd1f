// Calls with a key: made once, kept for a while, and ended when nobody waits any more.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createKeyedCalls, type Answer } from './keyed-calls.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const idle = new AbortController().signal;

/** Counts the calls and answers with their number. */
function counting(status = 200): { calls: number; call: (signal: AbortSignal) => Promise<Answer> } {
  const counter = { calls: 0, call: async () => ({ status, body: String(++counter.calls) }) };
  return counter;
}

test('the second call with a key gets the answer of the first, for ten minutes', async () => {
  using keyed = createKeyedCalls();
  const { call } = counting();
  const first = await keyed.run('a', idle, call);
  await vi.advanceTimersByTimeAsync(9.9 * 60_000);
  expect(await keyed.run('a', idle, call)).toEqual(first);
  expect(await keyed.run('b', idle, call)).toEqual({ status: 200, body: '2' });
  await vi.advanceTimersByTimeAsync(0.2 * 60_000);
  expect(await keyed.run('a', idle, call)).toEqual({ status: 200, body: '3' });
});

test('without a key every call is made', async () => {
  using keyed = createKeyedCalls();
  const counter = counting();
  for (let i = 0; i < 3; i++) await keyed.run(undefined, idle, counter.call);
  expect(counter.calls).toBe(3);
});

test.each([400, 409, 429])('an answer with status %i leaves the key free', async (status) => {
  using keyed = createKeyedCalls();
  const counter = counting(status);
  await keyed.run('a', idle, counter.call);
  await keyed.run('a', idle, counter.call);
  expect(counter.calls).toBe(2);
});

test('two callers at once share one call, which goes on while one of them waits', async () => {
  using keyed = createKeyedCalls();
  let finish = (_: Answer): void => undefined;
  const signals: AbortSignal[] = [];
  const call = (signal: AbortSignal): Promise<Answer> => {
    signals.push(signal);
    return new Promise((resolve) => (finish = resolve));
  };
  const leaving = new AbortController();
  void keyed.run('a', leaving.signal, call);
  const second = keyed.run('a', idle, call);
  leaving.abort();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  finish({ status: 200, body: 'done' });
  expect(await second).toEqual({ status: 200, body: 'done' });
});

test('a call that nobody waits for is ended after ten seconds, unless somebody comes back', async () => {
  using keyed = createKeyedCalls();
  let signal = idle;
  const call = (given: AbortSignal): Promise<Answer> => {
    signal = given;
    return new Promise((_, reject) => given.addEventListener('abort', () => reject(given.reason as Error)));
  };
  const caller = new AbortController();
  const first = keyed.run('a', caller.signal, call);
  first.catch(() => undefined);
  caller.abort();
  await vi.advanceTimersByTimeAsync(9_000);
  const back = new AbortController();
  keyed.run('a', back.signal, call).catch(() => undefined);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(signal.aborted).toBe(false);
  back.abort();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(signal.aborted).toBe(true);
  await expect(first).rejects.toThrow('hung up');
});
