// A site as pure answers to requests over the state of one instance. The state is plain data, so that a verifier can
// compare it with what it should have become. No network here.

import type { JsonObject } from '../../../core/index.ts';
import { markup } from '../html.ts';
import { htmlReply, notFound, type SiteReply, type SiteRequest } from '../site.ts';
import { readMultipart, type Uploaded } from './multipart.ts';

export type App<S extends JsonObject = JsonObject> = {
  /** Its name in addresses; ends in `.test`. */
  readonly host: string;
  /** May change `state`, which is one instance's own. */
  readonly respond: (state: S, request: SiteRequest) => SiteReply;
};

export type Call = {
  readonly query: URLSearchParams;
  /** Fields of a form, whichever way it was sent. */
  readonly form: URLSearchParams;
  /** Uploaded, by the name of the field. */
  readonly files: ReadonlyMap<string, Uploaded>;
  /** What the parts of the pattern with a colon stood for. */
  readonly at: Readonly<Record<string, string>>;
};

export type Handler<S> = (state: S, call: Call) => SiteReply;

/** Keys are like `GET /books/:id`. What fits none is answered with 404. */
export function routes<S extends JsonObject>(table: Readonly<Record<string, Handler<S>>>): App<S>['respond'] {
  const entries = Object.entries(table).map(([key, handler]) => {
    const [method, pattern] = key.split(' ');
    return { method, parts: pattern.split('/'), handler };
  });
  return (state, request) => {
    const given = request.path.split('/');
    for (const { method, parts, handler } of entries) {
      if (method !== request.method || parts.length !== given.length) continue;
      const at: Record<string, string> = {};
      const fits = parts.every((part, i) => {
        if (!part.startsWith(':')) return part === given[i];
        at[part.slice(1)] = given[i];
        return given[i] !== '';
      });
      if (fits) return handler(state, { query: request.query, at, ...readForm(request) });
    }
    return notFound();
  };
}

function readForm({ form, body, headers }: SiteRequest): Pick<Call, 'form' | 'files'> {
  const type = headers['content-type'] ?? '';
  return type.startsWith('multipart/form-data') ? readMultipart(body, type) : { form, files: new Map() };
}

export type SentFile = { readonly name: string; readonly type: string; readonly text: string };

export function sendFile({ name, type, text }: SentFile): SiteReply {
  // A visitor may have named it: in a header only ASCII stands for itself (RFC 6266).
  const isPlain = /^[\w .-]+$/.test(name);
  const fileName = isPlain ? `filename="${name}"` : `filename*=UTF-8''${encodeURIComponent(name)}`;
  const headers = { 'content-type': type, 'content-disposition': `attachment; ${fileName}` };
  return { status: 200, headers, body: text };
}

export function badRequest(problem: string): SiteReply {
  return htmlReply(
    markup`<!doctype html>
      <html lang="en">
        <title>Not possible</title>
        <h1>Not possible</h1>
        <p>${problem}</p>
      </html>`,
    400,
  );
}
