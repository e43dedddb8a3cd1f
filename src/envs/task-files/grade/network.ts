// Whether a request was sent that a check asks for, or was not. Pure: events come from a recording. Names and values
// are compared as WebArena-Verified does it: an expected text of the form ^…$ is a pattern, a list holds alternatives,
// parameters of the address that are neither expected nor ignored make it another request.

import type { JsonObject, JsonValue } from '../../../core/index.ts';
import type { NetworkCheck } from '../loaded-task.ts';
import { isSimplePath, valueAt } from './json-path.ts';
import type { NetworkEvent } from './snapshot.ts';
import { isEmpty, isPattern, sameTyped } from './typed-values.ts';

/** Parts of pages: no check means them, and no pattern finds them. */
const PARTS = /\.(?:css|js|png|jpe?g|gif|svg|woff2?|ttf|ico|webp)$/u;

/** What does not hold; undefined where it does. */
export function networkProblem(check: NetworkCheck, all: readonly NetworkEvent[]): string | undefined {
  const events = all.filter(({ url }) => !PARTS.test(url.split(/[?#]/u)[0]));
  if (check.mustNotExist && !check.lastNavigation) {
    // Whatever else it says: a request of this kind is one too many.
    return theirs(check, events).length === 0 ? undefined : 'a request was sent that must not be sent';
  }
  const candidates = check.lastNavigation
    ? events.filter(({ navigation }) => navigation).slice(-1)
    : theirs(check, events);
  const looked = check.lastOnly ? candidates.slice(-1) : candidates;
  const found = looked.filter((event) => fieldProblem(check, event) === undefined);
  if (check.mustNotExist) return found.length === 0 ? undefined : 'the page was opened that must not be opened';
  if (found.length > 0) return undefined;
  if (looked.length === 0) return 'no such request was sent';
  return fieldProblem(check, looked[looked.length - 1]);
}

/** Requests that are meant: the same method, the same path and from the same page, whatever else they say. */
function theirs({ method, urls, headers }: NetworkCheck, events: readonly NetworkEvent[]): readonly NetworkEvent[] {
  const [, from] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'referer') ?? [];
  const pages = [from ?? []].flat().filter((one) => typeof one === 'string');
  return events.filter(
    (event) =>
      (method === null || event.method.toUpperCase() === method) &&
      urls.some((url) => samePath(url, event.url)) &&
      (pages.length === 0 ||
        event.headers['referer'] === undefined ||
        pages.some((page) => samePath(page, event.headers['referer']))),
  );
}

function fieldProblem(check: NetworkCheck, event: NetworkEvent): string | undefined {
  const { method, status, urls } = check;
  if (method !== null && event.method.toUpperCase() !== method) return `the method was ${event.method}`;
  if (!urls.some((url) => samePath(url, event.url) && sameQuery(url, event.url, check)))
    return 'the address was another one';
  if (status !== null && event.status !== Math.max(status, 0)) return `the status was ${event.status}`;
  if (status === null && event.unanswered === true) return 'no server answered it';
  for (const [name, value] of Object.entries(check.headers)) {
    if (!sameHeader(name.toLowerCase(), value, event.headers[name.toLowerCase()]))
      return `the header ${name} was another one`;
  }
  for (const [name, value] of Object.entries(check.cookies)) {
    if (!sameTyped(value, event.cookies[name], {})) return `the cookie ${name} was another one`;
  }
  if (event.tooLong === true && Object.keys(check.post).length > 0) return 'what was sent is too long to be compared';
  for (const [name, value] of Object.entries(check.post)) {
    if (check.ignoredPostPatterns.some((pattern) => new RegExp(pattern).test(name))) continue;
    if (!sameTyped(value, fieldOf(event.post, name), propertyOf(check.postSchema, name)))
      return `the field ${name} was another one`;
  }
  for (const [name, value] of Object.entries(check.response)) {
    if (!sameTyped(value, fieldOf(event.response, name), {})) return `${name} of the answer was another one`;
  }
  return undefined;
}

function sameHeader(name: string, expected: JsonValue, actual: string | undefined): boolean {
  if (actual === undefined) return isEmpty(expected);
  const urlLike = name === 'referer' || name === 'redirect_url';
  return [expected]
    .flat()
    .some((one: JsonValue) =>
      urlLike ? typeof one === 'string' && samePath(one, actual) : sameTyped(one, actual, {}),
    );
}

/** Host and path; a slash at the end, the letters' case and http against https do not matter. */
function samePath(expected: string, actual: string): boolean {
  const path = baseOf(actual);
  return expected.startsWith('^')
    ? new RegExp(expected, 'i').test(actual.split(/[?#]/u)[0])
    : baseOf(expected) === path;
}

function baseOf(text: string): string {
  return text
    .split(/[?#]/u)[0]
    .replace(/^https?:/u, '')
    .replace(/\/+$/u, '')
    .toLowerCase();
}

function sameQuery(expected: string, actual: string, check: NetworkCheck): boolean {
  const wanted = new Map<string, JsonValue>(expected.startsWith('^') ? [] : queryOf(expected, check.base64Query));
  for (const [name, value] of Object.entries(check.query)) wanted.set(name, value);
  const given = queryOf(actual, check.base64Query);
  return [...new Set([...wanted.keys(), ...given.keys()])].every((name) => {
    if (check.ignoredQuery.includes(name)) return true;
    if (check.ignoredQueryPatterns.some((pattern) => new RegExp(pattern).test(name))) return true;
    return sameParameter(wanted.get(name), given.get(name), propertyOf(check.querySchema, name));
  });
}

/** Not there and empty are the same. */
function sameParameter(expected: JsonValue | undefined, actual: string | undefined, schema: JsonObject): boolean {
  const any = expected === undefined ? [''] : Array.isArray(expected) ? (expected as JsonValue[]) : [expected];
  return any.some((one) => {
    if (typeof one === 'string' && isPattern(one)) return sameTyped(one, actual ?? '', schema);
    return isEmpty(one) ? isEmpty(actual) : sameTyped(one, actual, schema);
  });
}

function queryOf(url: string, base64: boolean): Map<string, string> {
  const [path, search = ''] = url.split('#')[0].split('?');
  const hidden = base64 ? path.split('/').flatMap((part) => [...new URLSearchParams(decoded(part))]) : [];
  const found = new Map<string, string>();
  // The first of several values counts.
  for (const [name, value] of [...new URLSearchParams(search), ...hidden]) if (!found.has(name)) found.set(name, value);
  return found;
}

/** Of a part of a path that is a query in base64; empty where it is none. */
function decoded(part: string): string {
  if (part.length < 4 || !/^[A-Za-z0-9+_-]+={0,2}$/u.test(part)) return '';
  const text = Buffer.from(part, 'base64').toString('latin1');
  return /^[\x20-\x7E]+$/u.test(text) && /^[\w[\]%.-]+=/u.test(text) ? text : '';
}

function fieldOf(object: JsonObject | null, name: string): JsonValue | undefined {
  if (object === null) return undefined;
  if (Object.hasOwn(object, name)) return object[name];
  return isSimplePath(name) ? valueAt(object, name) : undefined;
}

function propertyOf(schema: JsonObject, name: string): JsonObject {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, JsonObject>> };
  return properties[name] ?? {};
}
