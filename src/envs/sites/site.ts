// What a site of our own is: names it answers to, an address to start at, and a program that answers requests. The state
// of a program belongs to one episode; nothing is shared between two. Types and replies only; who serves it is host.ts.

import type { Html } from './html.ts';

export type SiteRequest = {
  /** Upper case. */
  readonly method: string;
  /** Lower case, without a port. */
  readonly host: string;
  /** As in the URL, not decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Of a body `application/x-www-form-urlencoded`; empty for every other. */
  readonly form: URLSearchParams;
  readonly body: Uint8Array;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
};

export type SiteReply = {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
};

/** Answers at once: what a page has to wait for, it waits for by a timer of its own. */
export type SiteProgram = (request: SiteRequest) => SiteReply;

export interface Site {
  /**
   * Every host name that it answers to, under a reserved top-level domain (`.test`). A page may embed frames of its own
   * registrable domain only: browsers keep the cookie that names the instance from frames of another.
   */
  readonly hosts: readonly string[];
  /** Where an episode starts, e.g. `http://shop.test/`. */
  readonly startUrl: string;
  /** The program of one episode. Equal requests in equal order get equal bytes. */
  open(): SiteProgram;
}

export function htmlReply(page: Html, status = 200): SiteReply {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: page.text };
}

export function jsonReply(value: unknown, status = 200): SiteReply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

export function textReply(text: string, status = 200): SiteReply {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: text };
}

/** 303: the next request is a GET, whatever this one was. Where to may be a visitor's word. */
export function redirect(to: string): SiteReply {
  return { status: 303, headers: { location: to.replace(/[^!-~]/gu, encodeURIComponent) }, body: '' };
}

export function notFound(): SiteReply {
  return textReply('Not found', 404);
}
