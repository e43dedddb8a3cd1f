// Order of one model's requests: what a gap costs, however much arrives behind it.

import { expect, test } from 'vitest';
import { ModelQueue } from './model-queue.ts';

type Told = { readonly ran: number[]; readonly failed: number[] };

function queueOf(gapMs: number): {
  queue: ModelQueue;
  add: (sequence: number) => void;
  told: Told;
  fail: Promise<void>;
} {
  const queue = new ModelQueue({ gapMs });
  const told: Told = { ran: [], failed: [] };
  let tell: () => void;
  const fail = new Promise<void>((resolve) => (tell = resolve));
  const add = (sequence: number): void =>
    queue.add(sequence, {
      run: () => Promise.resolve(void told.ran.push(sequence)),
      fail: () => {
        told.failed.push(sequence);
        tell();
      },
    });
  return { queue, add, told, fail };
}

test('requests run by number, whatever order they come in, and a refused number is passed over', async () => {
  const { queue, add, told } = queueOf(60_000);
  add(4);
  add(2);
  queue.refuse(3);
  add(1);
  await expect.poll(() => told.ran).toEqual([1, 2, 4]);
  expect(queue.next).toBe(5);
});

test('the time of a gap counts from when it was seen, not from what arrived last behind it', async () => {
  const { queue, add, told, fail } = queueOf(300);
  let next = 2;
  add(next++);
  const arrivals = setInterval(() => add(next++), 50);
  await fail;
  clearInterval(arrivals);
  expect(told.failed[0]).toBe(2);
  expect(told.ran).toEqual([]);
  await queue.close(new Error('done'));
});

test('two hundred thousand requests behind a gap fail, and later ones go on', async () => {
  const { queue, add, told, fail } = queueOf(50);
  for (let sequence = 2; sequence <= 200_001; sequence++) add(sequence);
  await fail;
  expect([told.failed.length, queue.next]).toEqual([200_000, 200_002]);
  add(200_002);
  await expect.poll(() => told.ran).toEqual([200_002]);
});
