// `httpGet`: a request of the session's own, not of the page: no cookies, no page's origin. How it gets out is
// http-client.ts's business.

import { z } from 'zod';
import { withDeadline } from '../../util/index.ts';
import { helperFailed } from './failures.ts';
import { hostMethod, nonEmpty, seconds } from './method.ts';

const MAX_REDIRECTS = 10;

export const httpGet = hostMethod(
  {
    name: 'httpGet',
    namespace: 'browser',
    effect: 'looks',
    signature: 'httpGet(url, headers?, timeoutSec = 20)',
    description:
      'Fetches an address outside the browser, without its cookies, and returns the body as text. An answer that is not 2xx throws with its status. The time is for the whole body.',
    example: 'const data = JSON.parse(await httpGet("https://example.com/api/items"));',
  },
  [
    nonEmpty('url'),
    z.record(z.string(), z.string(), { error: 'headers must be an object of strings' }).nullish(),
    seconds('timeoutSec', 20),
  ],
  async ({ scope, httpGet: get, policy }, address, headers, timeoutSec) => {
    if (get === undefined)
      throw helperFailed('httpGet', 'requests outside the browser are switched off in this session');
    if (policy.isRecorded) {
      throw helperFailed(
        'httpGet',
        'what is asked for in this task is written down in the browser, and this would be outside of it: open the page, or fetch() in one',
      );
    }
    const ms = Math.min(timeoutSec * 1000, scope.left());
    const onExpiry = (): Error => helperFailed('httpGet', `${address} did not answer completely within ${ms / 1000}s`);
    return withDeadline({ ms, signal: scope.signal, onExpiry }, async (signal) => {
      let url = parse(address);
      let sent: Readonly<Record<string, string>> = { 'user-agent': 'Mozilla/5.0', ...lowerCased(headers ?? {}) };
      for (let hops = 0; ; hops++) {
        policy.checkUrl('httpGet', url.href);
        const { status, location, body } = await get({ url, headers: sent, signal });
        if (status >= 200 && status < 300) return body;
        if (location === undefined || status < 300 || status >= 400)
          throw helperFailed('httpGet', `${url.href} answered with status ${status}`);
        if (hops === MAX_REDIRECTS)
          throw helperFailed('httpGet', `${address} redirects more than ${MAX_REDIRECTS} times`);
        const next = parse(new URL(location, url).href);
        // What authorises at one origin is not told to another.
        if (next.origin !== url.origin) sent = without(sent, ['authorization', 'cookie', 'proxy-authorization']);
        url = next;
      }
    });
  },
);

function parse(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw helperFailed('httpGet', `${JSON.stringify(address)} is not an http or https address`);
  }
  return url;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function without(headers: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
