// Requests that come one after the other start together, and none is held for long.

import { expect, test } from 'vitest';
import { Arrivals } from './arrivals.ts';

/** What is started, in the order in which it starts. */
function recorder() {
  const started: string[] = [];
  const join = (arrivals: Arrivals, name: string): Promise<void> => arrivals.join().then(() => void started.push(name));
  return { started, join };
}

test('those that come while others are held start with them, in their order', async () => {
  using arrivals = new Arrivals({ quietMs: 50, mostMs: 5_000 });
  const { started, join } = recorder();
  const first = join(arrivals, 'first');
  await new Promise((resolve) => setImmediate(resolve));
  const second = join(arrivals, 'second');
  expect(started).toEqual([]);
  await first;
  expect(started).toEqual(['first', 'second']);
  await second;
});

test('one that is announced is waited for, but not longer than the limit', async () => {
  using arrivals = new Arrivals({ quietMs: 30, mostMs: 200 });
  const began = performance.now();
  const held = arrivals.join();
  const announcing = setInterval(() => arrivals.announce(), 1);
  await held;
  clearInterval(announcing);
  const took = performance.now() - began;
  expect(took).toBeGreaterThanOrEqual(199);
});

test('alone, it starts after the quiet time', async () => {
  using arrivals = new Arrivals({ quietMs: 5, mostMs: 60_000 });
  await arrivals.join();
});

test('when it is closed, whatever is held starts and hears there that all is over', async () => {
  const arrivals = new Arrivals({ quietMs: 60_000, mostMs: 60_000 });
  const held = arrivals.join();
  arrivals[Symbol.dispose]();
  await held;
});
