import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { abortable } from './abort.ts';
import { sleep, withDeadline } from './deadline.ts';

const never = (): Promise<never> => new Promise(() => undefined);
const late = new Error('late');

test('work that hangs is given up at the deadline with the error of the caller', async () => {
  await expect(withDeadline({ ms: 5, onExpiry: () => late }, never)).rejects.toBe(late);
});

test('the signal given to the work fires at the deadline', async () => {
  let seen: AbortSignal | undefined;
  const work = (signal: AbortSignal): Promise<never> => ((seen = signal), never());
  await withDeadline({ ms: 5, onExpiry: () => late }, work).catch(() => undefined);
  expect(seen?.reason).toBe(late);
});

test('an abort of the caller comes before the deadline and keeps its reason', async () => {
  const controller = new AbortController();
  const result = withDeadline({ ms: 60_000, signal: controller.signal, onExpiry: () => late }, never);
  controller.abort(new Error('stop'));
  await expect(result).rejects.toThrow('stop');
});

test('no listener stays on a signal that outlives the waits', async () => {
  const { signal } = new AbortController();
  await withDeadline({ ms: 1000, signal, onExpiry: () => late }, () => Promise.resolve(1));
  await abortable(Promise.resolve(1), signal);
  await sleep(0, signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('a wait under an aborted signal rejects at once', async () => {
  const signal = AbortSignal.abort(late);
  await expect(sleep(60_000, signal)).rejects.toBe(late);
  await expect(abortable(never(), signal)).rejects.toBe(late);
});

test('a hundred waits under one signal raise no warning about leaking listeners', async () => {
  const warnings: string[] = [];
  const listen = (warning: Error): number => warnings.push(warning.message);
  process.on('warning', listen);
  const controller = new AbortController();
  const waits = Array.from({ length: 100 }, () => sleep(60_000, controller.signal));
  controller.abort(late);
  await Promise.allSettled(waits);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listen);
  expect(warnings).toEqual([]);
});
