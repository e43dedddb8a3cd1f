import { expect, it } from 'vitest';
import { networkCheck, networkEvent } from '../fixtures/network-rows.ts';
import { bounded } from './bounded.ts';
import { gradeSnapshot } from './grade.ts';
import type { NetworkEvent } from './snapshot.ts';

const CHECK = networkCheck({ urls: ['^http://h/(a|aa)+$'] });
const opened = (url: string): NetworkEvent => networkEvent({ url });

it('gives what it computes, and throws what it throws', () => {
  expect(
    bounded(
      1_000,
      () => [1],
      () => [],
    ),
  ).toEqual([1]);
  expect(() =>
    bounded(
      1_000,
      () => JSON.parse('{') as object,
      () => ({}),
    ),
  ).toThrow(SyntaxError);
});

it.each([false, true])(
  'a pattern that an address keeps busy is no evidence (must not exist: %s)',
  async (mustNotExist) => {
    const { signal } = new AbortController();
    const grade = (url: string) =>
      gradeSnapshot(
        { id: '1', instruction: '', checks: [{ ...CHECK, mustNotExist }] },
        { answer: '', url: '', texts: new Map(), states: new Map(), network: [opened(url)] },
        { signal },
      );
    expect((await grade('http://h/aaaa')).success).toBe(!mustNotExist);
    const start = process.cpuUsage();
    const { success, details } = await grade(`http://h/${'a'.repeat(60)}!`); // centuries
    expect([success, JSON.stringify(details)]).toEqual([
      false,
      expect.stringContaining('not comparable: it took more'),
    ]);
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(10);
  },
);
