// What becomes of targets and of the process when something is cut short; the rest is proved in a real Chromium.

import { expect, test } from 'vitest';
import type { OwnedProcess } from '../util/index.ts';
import { createBrowser } from './browser.ts';
import type { CdpConnection, CdpSession } from './cdp.ts';

const viewport = { width: 332, height: 214 };

/** A browser whose answers are made by `answer`; it keeps which targets were opened and closed. */
function fakeBrowser(answer: (method: string) => Promise<void>, owned: Partial<OwnedProcess> = {}) {
  const targets = { opened: 0, closed: [] as string[] };
  const send = async (method: string, params: { targetId?: string } = {}): Promise<object> => {
    await answer(method);
    if (method === 'Target.createTarget') return { targetId: `target-${++targets.opened}` };
    if (method === 'Target.closeTarget') targets.closed.push(params.targetId!);
    return { sessionId: 'session' };
  };
  const session = { id: 'session', send, on: () => () => undefined } as unknown as CdpSession;
  const cdp: CdpConnection = {
    root: session,
    closed: false,
    session: () => session,
    request: (method, params) => send(method, params),
    onMessage: () => () => undefined,
    close: () => undefined,
  };
  const ended = new Promise<never>(() => undefined);
  const process = { child: { pid: 1 }, ended, kill: () => Promise.resolve(), ...owned } as unknown as OwnedProcess;
  const browser = createBrowser({
    cdp,
    owned: process,
    product: 'Fake/1',
    mode: 'ordinary',
    stderr: () => '',
    killDeadlineMs: 5,
  });
  return { browser, targets };
}

test('a target that is made after its page was given up is closed', async () => {
  let make: () => void = () => undefined;
  const made = new Promise<void>((resolve) => (make = resolve));
  const { browser, targets } = fakeBrowser((method) => (method === 'Target.createTarget' ? made : Promise.resolve()));
  await expect(browser.newPage({ viewport, deadlineMs: 5 })).rejects.toMatchObject({ code: 'operation-timeout' });
  expect(targets).toEqual({ opened: 0, closed: [] });
  make();
  await expect.poll(() => targets).toEqual({ opened: 1, closed: ['target-1'] });
});

test.each(['Target.attachToTarget', 'Page.enable'])(
  'a page that hangs in %s is closed when given up',
  async (hanging) => {
    const { browser, targets } = fakeBrowser((method) =>
      method === hanging ? new Promise(() => undefined) : Promise.resolve(),
    );
    await expect(browser.newPage({ viewport, deadlineMs: 5 })).rejects.toMatchObject({ code: 'operation-timeout' });
    await expect.poll(() => targets.closed).toEqual(['target-1']);
  },
);

test('a page that cannot be set up is closed', async () => {
  const { browser, targets } = fakeBrowser((method) =>
    method === 'Inspector.enable' ? Promise.reject(new Error('refused')) : Promise.resolve(),
  );
  await expect(browser.newPage({ viewport })).rejects.toThrow('refused');
  expect(targets.closed).toEqual(['target-1']);
});

test('a page that is handed over stays open', async () => {
  const { browser, targets } = fakeBrowser(() => Promise.resolve());
  const controller = new AbortController();
  await browser.newPage({ viewport, signal: controller.signal });
  controller.abort();
  expect(targets.closed).toEqual([]);
});

test('a process that does not end when killed is told after a deadline, not waited for', async () => {
  const { browser } = fakeBrowser(() => Promise.resolve(), { kill: () => new Promise(() => undefined) });
  await expect(browser[Symbol.asyncDispose]()).rejects.toMatchObject({ code: 'browser-not-ended', retryable: false });
});
