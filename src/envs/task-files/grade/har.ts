// Network events out of a HAR file (HTTP Archive 1.2), as browsers and proxies write it.

import { z } from 'zod';
import { TabwrightError } from '../../../core/index.ts';
import { eventOfExchange } from './exchange.ts';
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
  const { postData } = request;
  return eventOfExchange({
    url: request.url,
    method: request.method,
    status: Math.max(0, response.status),
    headers: Object.fromEntries(request.headers.map(({ name, value }) => [name.toLowerCase(), value])),
    post: postData ? { mimeType: postData.mimeType, text: postData.text ?? formText(postData.params ?? []) } : null,
    response: response.content.encoding === 'base64' ? null : (response.content.text ?? null),
    setCookies: response.headers
      .filter(({ name }) => name.toLowerCase() === 'set-cookie')
      .flatMap(({ value }) => value.split('\n')),
    document: _resourceType === 'document',
  });
}

function formText(params: readonly { readonly name: string; readonly value: string }[]): string {
  return String(new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value])));
}
