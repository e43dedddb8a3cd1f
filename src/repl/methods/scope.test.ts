// What happens to a command when its connection breaks: observed again where that is safe, never sent twice where not.

import { expect, it } from 'vitest';
import type { CdpConnection } from '../../browser/index.ts';
import { TabwrightError } from '../../core/index.ts';
import { createAttachedBrowser } from './attached-browser.ts';
import { createScope } from './scope.ts';

/** Connections that break at so many-th command; the list of commands over all of them. */
function breaking(breaksAt: readonly number[]) {
  const sent: string[] = [];
  let made = 0;
  const connect = async (): Promise<CdpConnection> => {
    const breakAt = breaksAt[made++] ?? Infinity;
    let closed = false;
    let count = 0;
    return {
      get closed() {
        return closed;
      },
      async request(method: string) {
        sent.push(method);
        if (++count < breakAt) return { number: made };
        closed = true;
        throw new TabwrightError('browser', 'gone', { code: 'browser-closed' });
      },
      onMessage: () => () => undefined,
    } as unknown as CdpConnection; // as much of one as commands need
  };
  const browser = createAttachedBrowser({ connect, now: () => 0 });
  const { signal } = new AbortController();
  const scope = createScope({ browser, signal, deadlineMs: 10_000, now: () => performance.now() });
  return { sent, request: (method: string, sessionId?: string) => scope.request({ sessionId }, method, {}) };
}

it('a look over a connection that never answered is taken again, once, 150 ms later', async () => {
  const { sent, request } = breaking([1]);
  const start = performance.now();
  expect(await request('Target.getTargets')).toEqual({ number: 2 });
  expect(performance.now() - start).toBeGreaterThanOrEqual(149);
  expect(sent).toEqual(['Target.getTargets', 'Target.getTargets']);
  const twice = breaking([1, 1]);
  await expect(twice.request('Target.getTargets')).rejects.toMatchObject({ code: 'outcome-unknown' });
  expect(twice.sent).toHaveLength(2);
});

it.each([
  ['what may have an effect', [1], 'Target.createTarget', undefined, 1],
  ['what belongs to a session of the broken connection', [1], 'Target.getTargets', 'a-session', 1],
] as const)('%s is sent once', async (_, breaksAt, method, sessionId, times) => {
  const { sent, request } = breaking(breaksAt);
  await expect(request(method, sessionId)).rejects.toThrow(`${method} outcome is unknown`);
  expect(sent).toHaveLength(times);
});

it('a connection that has answered before is no reason to ask again', async () => {
  const { sent, request } = breaking([2]);
  await request('Browser.getVersion');
  await expect(request('Target.getTargets')).rejects.toMatchObject({ code: 'outcome-unknown' });
  expect(sent).toHaveLength(2);
});
