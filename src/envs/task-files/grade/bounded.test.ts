import { expect, it } from 'vitest';
import type { NetworkCheck } from '../loaded-task.ts';
import { bounded } from './bounded.ts';
import { gradeSnapshot } from './grade.ts';
import type { NetworkEvent } from './snapshot.ts';

const CHECK: NetworkCheck = {
  kind: 'network',
  urls: ['^http://h/(a|aa)+$'],
  method: 'GET',
  status: null,
  headers: {},
  query: {},
  post: {},
  response: {},
  cookies: {},
  querySchema: {},
  postSchema: {},
  ignoredQuery: [],
  ignoredQueryPatterns: [],
  ignoredPostPatterns: [],
  base64Query: false,
  mustNotExist: false,
  lastOnly: false,
  lastNavigation: false,
};
const opened = (url: string): NetworkEvent => ({
  url,
  method: 'GET',
  status: 200,
  headers: {},
  post: null,
  response: null,
  cookies: {},
  navigation: true,
});

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
