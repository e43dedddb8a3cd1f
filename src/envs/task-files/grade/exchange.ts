// One request and its answer as the event that checks are compared with, wherever it was written down: fields of what was
// sent, the answer where it is JSON, cookies, and whether a page was opened by it. As WebArena-Verified reads recordings.

import type { JsonObject } from '../../../core/index.ts';
import type { NetworkEvent } from './snapshot.ts';

export type Exchange = Pick<NetworkEvent, 'url' | 'method' | 'status' | 'headers' | 'unanswered'> & {
  readonly post: { readonly mimeType: string; readonly text: string } | null;
  /** The answer's text. */
  readonly response: string | null;
  /** Lines of Set-Cookie. */
  readonly setCookies: readonly string[];
  /** Whoever wrote it down says that a page or a frame was asked for. */
  readonly document: boolean;
  /** Whether a tab's own page was asked for, where that is known for sure: it decides alone then. */
  readonly page?: boolean;
  /** More was sent than was kept. */
  readonly tooLong?: boolean;
};

/** Characters of what was sent, or answered, that are looked at. */
const READ_CHARACTERS = 4 * 1024 * 1024;

export function eventOfExchange(exchange: Exchange): NetworkEvent {
  const { post, response, setCookies, document, page, tooLong = false, ...rest } = exchange;
  const cut = tooLong || (post !== null && post.text.length > READ_CHARACTERS);
  return {
    ...rest,
    post: post === null || cut ? null : postFields(post.mimeType, post.text),
    ...(cut ? { tooLong: true } : {}),
    response: response === null || response.length > READ_CHARACTERS ? null : jsonObject(response),
    cookies: cookiesOf(setCookies),
    navigation: page === undefined ? isNavigation(rest, document) : page && rest.method.toUpperCase() === 'GET',
  };
}

/**
 * A page was asked for, and not a part of one. By its headers: plain http has no Sec-Fetch-*, which browsers send to https and
 * to this machine alone, so a page's Accept decides there. Recordings without headers have only the word of their writer.
 */
function isNavigation({ method, headers }: Pick<Exchange, 'method' | 'headers'>, document: boolean): boolean {
  if (method.toUpperCase() !== 'GET') return false;
  const { accept } = headers as { readonly accept?: string };
  if (accept === undefined) return document || headers['sec-fetch-mode'] === 'navigate';
  if ('sec-fetch-user' in headers) {
    return (
      headers['sec-fetch-dest'] === 'document' &&
      headers['sec-fetch-mode'] === 'navigate' &&
      accept.includes('text/html')
    );
  }
  return accept.startsWith('text/html');
}

/** Fields of a form, of several parts or not, or of a JSON object; null where it is none of these. */
export function postFields(mimeType: string, text: string): JsonObject | null {
  if (/json/iu.test(mimeType)) return jsonObject(text);
  const boundary = /boundary="?([^";]+)/iu.exec(mimeType)?.[1];
  // Of several fields of one name the first counts in a plain form, the last in one of parts.
  if (boundary !== undefined) return Object.fromEntries(multipart(text, boundary));
  const plain = jsonObject(text);
  if (plain !== null) return plain;
  return text.includes('=') ? Object.fromEntries([...new URLSearchParams(text)].reverse()) : null;
}

/** Each part in one pass: a part may be as long as the whole, and be made of line breaks alone. */
function multipart(text: string, boundary: string): (readonly [string, string])[] {
  return text.split(`--${boundary}`).flatMap((part) => {
    const start = /^\r?\n/u.exec(part)?.[0].length;
    if (start === undefined || !part.endsWith('\n')) return [];
    const blank = [part.indexOf('\n\n', start), part.indexOf('\n\r\n', start)].filter((at) => at !== -1);
    if (blank.length === 0) return [];
    const at = Math.min(...blank);
    const name = /\bname="([^"]*)"/u.exec(part.slice(start, at))?.[1];
    const from = at + (part[at + 1] === '\r' ? 3 : 2);
    const to = part.length - (part.endsWith('\r\n') ? 2 : 1);
    return name === undefined || to < from ? [] : [[name, part.slice(from, to)] as const];
  });
}

function jsonObject(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

function cookiesOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [cookie] = line.split(';');
      const at = cookie.indexOf('=');
      return [cookie.slice(0, at).trim(), unescaped(cookie.slice(at + 1).trim())];
    }),
  );
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
