// Requests that a recorder wrote down as the events that checks are compared with. Pure.

import { eventOfExchange, type NetworkEvent } from '../grade/index.ts';
import type { RecordedRequest } from './network-recorder.ts';

export function networkEventsOf(requests: readonly RecordedRequest[]): readonly NetworkEvent[] {
  return requests.map(({ url, method, headers, body, status, responseHeaders, responseBody, page, tooLong }) =>
    eventOfExchange({
      url,
      method,
      status,
      headers,
      post: body === null ? null : { mimeType: headers['content-type'] ?? '', text: body },
      response: responseBody,
      setCookies: (responseHeaders['set-cookie'] ?? '').split('\n').filter((line) => line !== ''),
      document: page,
      page,
      ...(tooLong ? { tooLong } : {}),
      ...(status === 0 ? { unanswered: true } : {}),
    }),
  );
}
