import { expect, test } from 'vitest';
import { createSemaphore } from './semaphore.ts';

test('never more holders than permits, and all are served in order', async () => {
  const semaphore = createSemaphore(2);
  const order: number[] = [];
  let holding = 0;
  let most = 0;
  const work = (index: number): Promise<void> =>
    semaphore.run(async () => {
      order.push(index);
      most = Math.max(most, ++holding);
      await Promise.resolve();
      holding--;
    });
  await Promise.all([0, 1, 2, 3, 4, 5].map(work));
  expect({ order, most, available: semaphore.available }).toEqual({ order: [0, 1, 2, 3, 4, 5], most: 2, available: 2 });
});

test('an aborted wait leaves the queue and costs no permit', async () => {
  const semaphore = createSemaphore(1);
  const release = await semaphore.acquire();
  const controller = new AbortController();
  const given = semaphore.acquire(controller.signal);
  const next = semaphore.acquire();
  controller.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  release();
  (await next)();
  expect(semaphore.available).toBe(1);
});

test('giving back twice gives back once', async () => {
  const semaphore = createSemaphore(1);
  const release = await semaphore.acquire();
  release();
  release();
  expect(semaphore.available).toBe(1);
});
