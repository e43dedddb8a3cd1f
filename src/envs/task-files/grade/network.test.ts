import { describe, expect, it } from 'vitest';
import { networkCheck, networkEvent } from '../fixtures/network-rows.ts';
import type { NetworkCheck } from '../loaded-task.ts';
import { eventOfExchange, postFields, type Exchange } from './exchange.ts';
import { networkEventsOfHar } from './har.ts';
import { networkProblem } from './network.ts';
import type { NetworkEvent } from './snapshot.ts';

const SITE = 'http://git.test:8023';
const CHECK = networkCheck({
  urls: [`${SITE}/groups`],
  method: 'POST',
  status: 302,
  post: { 'group[name]': 'web agents' },
  lastOnly: true,
});
const EVENT = networkEvent({
  url: `${SITE}/groups`,
  method: 'POST',
  status: 302,
  post: { 'group[name]': 'Web agents', utf8: 'x' },
  navigation: false,
});
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
  // Whatever else it said, and however it was answered.
  expect(holds({ mustNotExist: true }, { post: { 'group[name]': 'other' }, status: 500 }, { url: `${SITE}/x` })).toBe(
    false,
  );
});

it('the last request counts among those from the page that is named', () => {
  const check = { headers: { referer: `${SITE}/groups/new` } };
  const from = (referer: string, name: string) => ({ headers: { referer }, post: { 'group[name]': name } });
  expect(holds(check, from(`${SITE}/groups/new`, 'web agents'), from(`${SITE}/admin`, 'other'))).toBe(true);
  expect(holds(check, from(`${SITE}/groups/new`, 'web agents'), from(`${SITE}/groups/new?x=1`, 'other'))).toBe(false);
  expect(holds(check, from(`${SITE}/admin`, 'web agents'))).toBe(false);
});

it('parts of pages are no requests of a check', () => {
  const check = { urls: [`^${SITE}/groups/.*$`], method: 'GET', status: 200, post: {} };
  const page = { url: `${SITE}/groups/12?tab=members`, method: 'GET', status: 200, post: null };
  const own = { query: { tab: 'members' } };
  expect(holds({ ...check, ...own }, page, { ...page, url: `${SITE}/groups/logo.png?v=2` })).toBe(true);
  expect(holds({ ...check, ...own }, page, { ...page, url: `${SITE}/groups/logo?v=2` })).toBe(false);
});

it.each<[string, object, Partial<Exchange>, boolean]>([
  ['plain http', { accept: 'text/html,*/*' }, {}, true],
  ['a script’s request', { accept: '*/*' }, {}, false],
  ['a form that is sent', { accept: 'text/html,*/*' }, { method: 'POST' }, false],
  [
    'a link',
    { accept: 'text/html', 'sec-fetch-user': '?1', 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' },
    {},
    true,
  ],
  [
    'a link in a frame',
    { accept: 'text/html', 'sec-fetch-user': '?1', 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' },
    {},
    false,
  ],
  ['no headers, a page', {}, { document: true }, true],
  ['no headers, no page', {}, {}, false],
])('whether a page was opened: %s', (_, headers, more, opened) => {
  const plain = { url: SITE, method: 'GET', status: 200, post: null, response: null, setCookies: [], document: false };
  expect(eventOfExchange({ ...plain, headers: headers as Record<string, string>, ...more }).navigation).toBe(opened);
});

it('of several fields of one name the first counts in a plain form, the last in one of parts', () => {
  const part = (value: string): string => `--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n${value}\r\n`;
  expect(postFields('application/x-www-form-urlencoded', 'a=1&a=2&b=')).toEqual({ a: '1', b: '' });
  expect(postFields('multipart/form-data; boundary=B', `${part('1')}${part('2')}--B--`)).toEqual({ a: '2' });
});

it.each([
  ['line breaks alone', 'a', '\n'.repeat(1 << 20) + 'x'],
  ['line breaks in a part that is open', 'a', '--a\n' + '\r\n'.repeat(1 << 19) + 'x'],
  ['names without an end', 'a', '--a\n' + ' name="'.repeat(1 << 17) + '\n\nx\n'],
  ['a boundary in every place', '-', '-'.repeat(1 << 18)],
])('a long form is read in one pass: %s', (_, boundary, text) => {
  const start = process.cpuUsage();
  expect(postFields(`multipart/form-data; boundary=${boundary}`, text)).toBeDefined();
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1e6).toBeLessThan(0.9);
});

it.each([
  ['\n', { a: 'one\n\ntwo', b: '' }],
  ['\r\n', { a: 'one\r\n\r\ntwo', b: '' }],
])('parts of a form end at their boundary, with lines that end in %j', (end, fields) => {
  const part = (name: string, value: string): string =>
    ['--B', `Content-Disposition: form-data; name="${name}"`, 'Content-Type: text/plain', '', value, ''].join(end);
  const text = `${part('a', `one${end}${end}two`)}${part('b', '')}--B--${end}`;
  expect(postFields('multipart/form-data; boundary=B', text)).toEqual(fields);
});

it('what is too long to be looked at is not comparable, and says so', () => {
  const plain = { ...EVENT, headers: {}, response: null, setCookies: [], document: false };
  const sent = (text: string): NetworkEvent =>
    eventOfExchange({ ...plain, post: { mimeType: 'application/x-www-form-urlencoded', text } });
  expect(networkProblem(CHECK, [sent('group[name]=web agents')])).toBeUndefined();
  expect(networkProblem(CHECK, [sent(`group[name]=web agents&x=${'x'.repeat(5 << 20)}`)])).toBe(
    'what was sent is too long to be compared',
  );
});

it('a request that no server answered is one only where the check asks for no answer', () => {
  expect(holds({ status: null }, { status: 0 })).toBe(true);
  expect(holds({ status: null }, { status: 0, unanswered: true })).toBe(false);
  expect(holds({ status: 0 }, { status: 0, unanswered: true })).toBe(true);
  expect(holds({ mustNotExist: true, status: null }, { status: 0, unanswered: true })).toBe(false);
});

it('a live record knows which request was a tab’s own page, whatever headers it had', () => {
  const plain = { ...EVENT, method: 'GET', post: null, response: null, setCookies: [], document: true };
  const opened = (page: boolean, headers: Record<string, string>, method = 'GET'): boolean =>
    eventOfExchange({ ...plain, method, page, headers }).navigation;
  expect(opened(false, { accept: 'text/html' })).toBe(false);
  expect(opened(false, {})).toBe(false);
  expect(opened(true, { accept: '*/*', 'sec-fetch-user': '?1', 'sec-fetch-dest': 'iframe' })).toBe(true);
  expect(opened(true, {}, 'POST')).toBe(false);
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
    post: { 'group[name]': 'web agents', tag: 'a' },
    response: null,
    cookies: { mode: 'is dark' },
    navigation: false,
  });
  expect(events[1]).toMatchObject({ response: { ok: true }, navigation: true });
  expect(networkProblem(CHECK, events)).toBeUndefined();
  expect(() => networkEventsOfHar({}, 'run.har')).toThrow(/run\.har is no HAR file: log /u);
});
