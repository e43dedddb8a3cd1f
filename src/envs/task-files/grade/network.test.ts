import { describe, expect, it } from 'vitest';
import type { NetworkCheck } from '../loaded-task.ts';
import { networkEventsOfHar } from './har.ts';
import { networkProblem } from './network.ts';
import type { NetworkEvent } from './snapshot.ts';

const SITE = 'http://git.test:8023';
const CHECK: NetworkCheck = {
  kind: 'network',
  urls: [`${SITE}/groups`],
  method: 'POST',
  status: 302,
  headers: {},
  query: {},
  post: { 'group[name]': 'web agents' },
  response: {},
  cookies: {},
  querySchema: {},
  postSchema: {},
  ignoredQuery: [],
  ignoredQueryPatterns: [],
  ignoredPostPatterns: [],
  base64Query: false,
  mustNotExist: false,
  lastOnly: true,
  lastNavigation: false,
};
const EVENT: NetworkEvent = {
  url: `${SITE}/groups`,
  method: 'POST',
  status: 302,
  headers: {},
  post: { 'group[name]': 'Web agents', utf8: 'x' },
  response: null,
  cookies: {},
  navigation: false,
};
const holds = (check: Partial<NetworkCheck>, ...events: readonly Partial<NetworkEvent>[]): boolean =>
  networkProblem(
    { ...CHECK, ...check },
    events.map((event) => ({ ...EVENT, ...event })),
  ) === undefined;

describe('a request that has to be sent', () => {
  it('is found by address, method, status and fields; other fields may be there', () =>
    expect(holds({}, {})).toBe(true));
  it.each([
    ['method', { method: 'GET' }],
    ['status', { status: 422 }],
    ['path', { url: `${SITE}/groups/new` }],
    ['host', { url: 'http://evil.test/groups' }],
    ['field', { post: { 'group[name]': 'other' } }],
    ['fields', { post: null }],
    ['query', { url: `${SITE}/groups?dry_run=1` }],
  ])('with another %s is another request', (_, event) => expect(holds({}, event)).toBe(false));
  it('that was not sent is missing', () => expect(holds({})).toBe(false));

  it('the last one counts, unless any may', () => {
    const wrong = { post: { 'group[name]': 'typo' } };
    expect(holds({}, wrong, {})).toBe(true);
    expect(holds({}, {}, wrong)).toBe(false);
    expect(holds({ lastOnly: false }, {}, wrong)).toBe(true);
  });

  it('ignored parameters do not matter, nor does an empty one', () => {
    expect(holds({ ignoredQuery: ['utf8'] }, { url: `${SITE}/groups?utf8=1` })).toBe(true);
    expect(holds({ ignoredQueryPatterns: ['^paging'] }, { url: `${SITE}/groups?paging[page]=2` })).toBe(true);
    expect(holds({}, { url: `${SITE}/groups?q=` })).toBe(true);
  });

  it('addresses may be patterns, and values lists of alternatives, patterns, or at a path', () => {
    expect(holds({ urls: [`^${SITE}/groups/\\d+$`] }, { url: `${SITE}/groups/12` })).toBe(true);
    expect(holds({ urls: [`^${SITE}/groups/\\d+$`] }, { url: `${SITE}/groups/x` })).toBe(false);
    expect(holds({ query: { q: ['a', 'b'] } }, { url: `${SITE}/groups?q=b` })).toBe(true);
    expect(holds({ query: { q: '^(opened|)$' } }, {})).toBe(true);
    expect(holds({ post: { '$.user.names[0]': 'Ann' } }, { post: { user: { names: ['Ann'] } } })).toBe(true);
    expect(holds({ post: { '$.user.names[1]': 'Ann' } }, { post: { user: { names: ['Ann'] } } })).toBe(false);
    expect(
      holds(
        { post: { from: '2023-02-01' }, postSchema: { properties: { from: { format: 'date' } } } },
        { post: { from: '02/1/2023' } },
      ),
    ).toBe(true);
  });

  it('a query that is hidden in the path is looked at where the check says so', () => {
    const hidden = Buffer.from('from=2022&to=2023').toString('base64url');
    const check = {
      urls: [`^${SITE}/report/[^/]+$`],
      method: 'GET',
      status: 200,
      post: {},
      query: { from: '2022', to: '2023' },
    };
    expect(
      holds({ ...check, base64Query: true }, { url: `${SITE}/report/${hidden}`, method: 'GET', status: 200 }),
    ).toBe(true);
    expect(holds(check, { url: `${SITE}/report/${hidden}`, method: 'GET', status: 200 })).toBe(false);
  });

  it('headers, cookies and the answer are compared where they are named', () => {
    expect(holds({ headers: { Referer: `${SITE}/new` } }, { headers: { referer: `${SITE}/new?x=1` } })).toBe(true);
    expect(holds({ headers: { Referer: `${SITE}/new` } }, { headers: { referer: `${SITE}/old` } })).toBe(false);
    expect(holds({ cookies: { mode: '^.*dark.*$' } }, { cookies: { mode: 'is-dark' } })).toBe(true);
    expect(holds({ response: { '$.ok': true } }, { response: { ok: true } })).toBe(true);
    expect(holds({ response: { '$.ok': true } }, { response: { ok: false } })).toBe(false);
  });
});

it('a request that must not be sent', () => {
  expect(holds({ mustNotExist: true })).toBe(true);
  expect(holds({ mustNotExist: true }, {})).toBe(false);
  expect(holds({ mustNotExist: true }, { url: `${SITE}/other` })).toBe(true);
});

it('the page that was opened last counts, where the task is to get there', () => {
  const check = { lastNavigation: true, method: 'GET', status: 200, post: {}, urls: [`${SITE}/a`] };
  const page = { url: `${SITE}/a`, method: 'GET', status: 200, post: null, navigation: true };
  expect(holds(check, page)).toBe(true);
  expect(holds(check, page, { ...page, url: `${SITE}/b` })).toBe(false);
  expect(holds(check, page, { ...page, url: `${SITE}/b`, navigation: false })).toBe(true);
});

it('a HAR file gives the same events', () => {
  const entry = (request: object, response: object, more: object = {}): object => ({ request, response, ...more });
  const form = { mimeType: 'application/x-www-form-urlencoded', text: 'group%5Bname%5D=web+agents&tag=a&tag=b' };
  const events = networkEventsOfHar(
    {
      log: {
        entries: [
          entry(
            { method: 'POST', url: `${SITE}/groups`, headers: [{ name: 'Referer', value: SITE }], postData: form },
            {
              status: 302,
              headers: [{ name: 'Set-Cookie', value: 'mode=is%20dark; Path=/' }],
              content: { mimeType: '' },
            },
            { _resourceType: 'document' },
          ),
          entry(
            { method: 'GET', url: `${SITE}/groups/1`, headers: [] },
            { status: 200, headers: [], content: { mimeType: 'application/json', text: '{"ok":true}' } },
            { _resourceType: 'document' },
          ),
        ],
      },
    },
    'run.har',
  );
  expect(events[0]).toEqual({
    url: `${SITE}/groups`,
    method: 'POST',
    status: 302,
    headers: { referer: SITE },
    post: { 'group[name]': 'web agents', tag: ['a', 'b'] },
    response: null,
    cookies: { mode: 'is dark' },
    navigation: false,
  });
  expect(events[1]).toMatchObject({ response: { ok: true }, navigation: true });
  expect(networkProblem(CHECK, events)).toBeUndefined();
  expect(() => networkEventsOfHar({}, 'run.har')).toThrow(/run\.har is no HAR file: log /u);
});
