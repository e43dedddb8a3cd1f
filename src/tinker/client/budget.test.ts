import { expect, it } from 'vitest';
import { createByteBudget } from './budget.ts';

it('whoever comes first waits for room first, also behind a large one', async () => {
  const budget = createByteBudget(10);
  const order: string[] = [];
  const first = await budget.take(8);
  const large = budget.take(7).then((release) => (order.push('large'), release));
  const small = budget.take(1).then((release) => (order.push('small'), release));
  await Promise.resolve();
  expect(order).toEqual([]);
  first();
  await Promise.all([large, small]);
  expect(order).toEqual(['large', 'small']);
  expect(budget.free).toBe(2);
});

it('a piece larger than the bound takes all of it, and room is given back once', async () => {
  const budget = createByteBudget(10);
  const release = await budget.take(1000);
  expect(budget.free).toBe(0);
  release();
  release();
  expect(budget.free).toBe(10);
});

it('a wait that is given up leaves the line', async () => {
  const budget = createByteBudget(10);
  const release = await budget.take(10);
  const controller = new AbortController();
  const waiting = budget.take(5, controller.signal);
  const next = budget.take(5);
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  release();
  await next;
  expect(budget.free).toBe(5);
});
