import { expect, test } from 'vitest';
import type { CdpSession } from './cdp.ts';
import { pageClosed } from './failures.ts';
import { createBeginFrames } from './frames.ts';

/** A session whose frames take one turn of the event loop; counts how many are in flight over all sessions. */
function fakePages() {
  const state = { inFlight: 0, most: 0, frames: new Map<string, number>() };
  const page = (id: string): CdpSession => ({
    id,
    on: () => () => undefined,
    send: async () => {
      state.most = Math.max(state.most, ++state.inFlight);
      state.frames.set(id, (state.frames.get(id) ?? 0) + 1);
      await new Promise((resolve) => setImmediate(resolve));
      state.inFlight--;
      return { hasDamage: false };
    },
  });
  return { state, page };
}

test('at most one frame is in flight per browser, and every page gets its turn', async () => {
  const { state, page } = fakePages();
  const frames = createBeginFrames({ endPage: () => undefined });
  let release: () => void = () => undefined;
  const work = new Promise<void>((resolve) => (release = resolve));
  const all = Promise.all(['a', 'b', 'c', 'd'].map((id) => frames.during(page(id), work)));
  await expect.poll(() => Math.min(...['a', 'b', 'c', 'd'].map((id) => state.frames.get(id) ?? 0))).toBeGreaterThan(3);
  release();
  await all;
  expect(state.most).toBe(1);
});

test('work that is done already still gets one frame', async () => {
  const { state, page } = fakePages();
  const frames = createBeginFrames({ endPage: () => undefined });
  expect(await frames.during(page('a'), Promise.resolve(5))).toBe(5);
  expect(state.frames.get('a')).toBe(1);
});

test('work that is answered right after its frame costs no second one', async () => {
  const { state, page } = fakePages();
  const frames = createBeginFrames({ endPage: () => undefined });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  // A frame takes one turn here; the answer comes one later.
  const work = (async () => {
    await turn();
    await turn();
  })();
  await frames.during(page('a'), work);
  expect(state.frames.get('a')).toBe(1);
});

test('a page whose frame hangs is ended, and the others go on', async () => {
  const { page } = fakePages();
  let fail: (error: Error) => void = () => undefined;
  const stuck = { ...page('stuck'), send: () => new Promise((_, reject) => (fail = reject)) } as unknown as CdpSession;
  const frames = createBeginFrames({ frameDeadlineMs: 5, endPage: () => fail(pageClosed('a frame')) });
  const [first, second] = await Promise.allSettled([
    frames.during(stuck, Promise.resolve(1)),
    frames.during(page('other'), Promise.resolve(2)),
  ]);
  expect(first).toMatchObject({ status: 'rejected', reason: { code: 'page-closed' } });
  expect(second).toEqual({ status: 'fulfilled', value: 2 });
});
