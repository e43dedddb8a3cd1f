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
  using arrivals = new Arrivals({ quietMs: 50, patientMs: 50, mostMs: 5_000 });
  const { started, join } = recorder();
  const first = join(arrivals, 'first');
  await new Promise((resolve) => setImmediate(resolve));
  const second = join(arrivals, 'second');
  expect(started).toEqual([]);
  await first;
  expect(started).toEqual(['first', 'second']);
  await second;
});

test('none is held for longer than the limit, whatever comes', async () => {
  using arrivals = new Arrivals({ quietMs: 60_000, patientMs: 60_000, mostMs: 200 });
  const began = performance.now();
  const held = arrivals.join();
  arrivals.announce();
  await held;
  expect(performance.now() - began).toBeGreaterThanOrEqual(199);
});

test('after a round of several the next one waits longer for as many, and only once', async () => {
  using arrivals = new Arrivals({ quietMs: 1, patientMs: 150, mostMs: 60_000 });
  const round = async (count: number): Promise<number> => {
    const began = performance.now();
    await Promise.all(Array.from({ length: count }, () => arrivals.join()));
    return performance.now() - began;
  };
  await round(3);
  expect(await round(1)).toBeGreaterThanOrEqual(149);
  expect(Math.min(await round(1), await round(1), await round(1))).toBeLessThan(149);
});

test('alone, it starts after the quiet time', async () => {
  using arrivals = new Arrivals({ quietMs: 5, patientMs: 60_000, mostMs: 60_000 });
  await arrivals.join();
});

test('when it is closed, whatever is held starts and hears there that all is over', async () => {
  const arrivals = new Arrivals({ quietMs: 60_000, patientMs: 60_000, mostMs: 60_000 });
  const held = arrivals.join();
  arrivals[Symbol.dispose]();
  await held;
});
