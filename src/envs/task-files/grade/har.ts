// Network events out of a HAR file (HTTP Archive 1.2), as browsers and proxies write it.

import { z } from 'zod';
import { TabwrightError, type JsonObject } from '../../../core/index.ts';
import type { NetworkEvent } from './snapshot.ts';

const pair = z.looseObject({ name: z.string(), value: z.string().default('') });
const harSchema = z.looseObject({
  log: z.looseObject({
    entries: z.array(
      z.looseObject({
        _resourceType: z.string().optional(),
        request: z.looseObject({
          method: z.string(),
          url: z.string(),
          headers: z.array(pair).default([]),
          postData: z
            .looseObject({
              mimeType: z.string().default(''),
              text: z.string().optional(),
              params: z.array(pair).optional(),
            })
            .nullish(),
        }),
        response: z.looseObject({
          status: z.number(),
          headers: z.array(pair).default([]),
          content: z.looseObject({
            mimeType: z.string().default(''),
            text: z.string().optional(),
            encoding: z.string().optional(),
          }),
        }),
      }),
    ),
  }),
});
type Entry = z.output<typeof harSchema>['log']['entries'][number];

/** `name` is for messages. */
export function networkEventsOfHar(har: unknown, name: string): readonly NetworkEvent[] {
  const parsed = harSchema.safeParse(har);
  if (parsed.success) return parsed.data.log.entries.map(eventOf);
  const [{ path, message }] = parsed.error.issues;
  throw new TabwrightError('env', `${name} is no HAR file: ${path.join('.')} ${message}`, {
    code: 'bad-har',
    details: { file: name, path: path.join('.') },
  });
}

function eventOf({ request, response, _resourceType }: Entry): NetworkEvent {
  const headers = Object.fromEntries(request.headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const { postData } = request;
  const document = _resourceType === 'document' || headers['sec-fetch-mode'] === 'navigate';
  return {
    url: request.url,
    method: request.method,
    status: Math.max(0, response.status),
    headers,
    post: postData ? postFields(postData.mimeType, postData.text ?? formText(postData.params ?? [])) : null,
    response: response.content.encoding === 'base64' ? null : jsonObject(response.content.text ?? ''),
    cookies: cookiesOf(response.headers),
    // Of a chain of redirections the last is the page.
    navigation: document && !(response.status >= 300 && response.status < 400),
  };
}

/** Fields of a form, of several parts or not, or of a JSON object; null where it is none of these. */
export function postFields(mimeType: string, text: string): JsonObject | null {
  if (/json/iu.test(mimeType)) return jsonObject(text);
  const boundary = /boundary="?([^";]+)/iu.exec(mimeType)?.[1];
  if (boundary !== undefined) return collected(multipart(text, boundary));
  return jsonObject(text) ?? (text.includes('=') ? collected([...new URLSearchParams(text)]) : null);
}

function multipart(text: string, boundary: string): (readonly [string, string])[] {
  return text.split(`--${boundary}`).flatMap((part) => {
    const match = /^\r?\n([^]*?)\r?\n\r?\n([^]*?)\r?\n$/u.exec(part);
    const name = match === null ? undefined : /\bname="([^"]*)"/u.exec(match[1])?.[1];
    return match === null || name === undefined ? [] : [[name, match[2]] as const];
  });
}

function collected(fields: readonly (readonly [string, string])[]): JsonObject {
  const found: Record<string, string | string[]> = {};
  for (const [name, value] of fields) {
    const before = found[name] as string | string[] | undefined;
    found[name] = before === undefined ? value : [before, value].flat();
  }
  return found;
}

function formText(params: readonly { readonly name: string; readonly value: string }[]): string {
  return String(new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value])));
}

function jsonObject(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

function cookiesOf(headers: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  const lines = headers
    .filter(({ name }) => name.toLowerCase() === 'set-cookie')
    .flatMap(({ value }) => value.split('\n'));
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
