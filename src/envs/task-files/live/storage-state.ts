// A signed-in state in Playwright's format (`context.storageState()`): cookies, and what sites keep in local storage. Read
// and checked here, and put into an episode's browser before its first page.

import { z } from 'zod';
import { TabwrightError, type JsonObject } from '../../../core/index.ts';
import type { CdpConnection } from '../../../browser/index.ts';
import { withDeadline } from '../../../util/index.ts';

const cookieSchema = z.looseObject({
  name: z.string(),
  value: z.string(),
  domain: z.string().min(1),
  path: z.string().default('/'),
  /** Seconds since 1970; -1 ends with the browser. */
  expires: z.number().default(-1),
  httpOnly: z.boolean().default(false),
  secure: z.boolean().default(false),
  sameSite: z.enum(['Strict', 'Lax', 'None']).optional(),
});
const stateSchema = z.looseObject({
  cookies: z.array(cookieSchema).default([]),
  origins: z
    .array(
      z.looseObject({
        origin: z.url({ protocol: /^https?$/ }),
        localStorage: z.array(z.looseObject({ name: z.string(), value: z.string() })).default([]),
      }),
    )
    .default([]),
});

export type StorageState = z.output<typeof stateSchema>;

/** `name` is for messages. */
export function readStorageState(text: string, name: string): StorageState {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw noState(name, (error as Error).message);
  }
  const parsed = stateSchema.safeParse(value);
  if (!parsed.success) {
    const [{ path, message }] = parsed.error.issues;
    throw noState(name, `${path.join('.')} ${message}`);
  }
  const { cookies, origins } = parsed.data;
  if (cookies.length + origins.length === 0) throw noState(name, 'it holds no cookies and no local storage');
  return parsed.data;
}

function noState(name: string, reason: string): TabwrightError {
  return new TabwrightError(
    'config',
    `${name} is no storage state: ${reason}. Playwright writes one with context.storageState({ path }).`,
    { code: 'bad-storage-state', details: { file: name, reason } },
  );
}

/** Milliseconds for the cookies, and for one origin's local storage. */
const FILL_MS = 30_000;

/** Cookies that have run out are left out: a browser takes them for a wish to delete. */
export async function applyStorageState(
  connection: CdpConnection,
  { cookies, origins }: StorageState,
  { signal, now = Date.now() }: { readonly signal: AbortSignal; readonly now?: number },
): Promise<void> {
  const live = cookies
    .filter(({ expires }) => expires < 0 || expires * 1000 > now)
    .map(({ name, value, domain, path, expires, httpOnly, secure, sameSite }) => ({
      ...{ name, value, domain, path, httpOnly, secure },
      ...(expires < 0 ? {} : { expires }),
      ...(sameSite === undefined ? {} : { sameSite }),
    }));
  if (live.length > 0) {
    await withDeadline({ ms: FILL_MS, signal, onExpiry: notFilled('The cookies were not set', {}) }, () =>
      connection.root.send('Storage.setCookies', { cookies: live }),
    );
  }
  for (const { origin, localStorage } of origins) {
    if (localStorage.length === 0) continue;
    const onExpiry = notFilled(`The local storage of ${origin} was not filled`, { origin });
    await withDeadline({ ms: FILL_MS, signal, onExpiry }, () => fillOrigin(connection, origin, localStorage));
  }
}

function notFilled(what: string, details: JsonObject): () => TabwrightError {
  return () =>
    new TabwrightError('browser', `${what} within ${FILL_MS} ms.`, {
      code: 'storage-state-failed',
      details,
      retryable: true,
    });
}

/** In a page that is the origin's by its address alone: nothing is asked of the site. */
async function fillOrigin(
  connection: CdpConnection,
  origin: string,
  items: readonly { readonly name: string; readonly value: string }[],
): Promise<void> {
  const { root } = connection;
  const { targetId } = await root.send('Target.createTarget', { url: 'about:blank', background: true });
  try {
    const { sessionId } = await root.send('Target.attachToTarget', { targetId, flatten: true });
    const page = connection.session(sessionId);
    page.on('Fetch.requestPaused', ({ requestId }) => {
      const body = Buffer.from('<title>filled</title>').toString('base64');
      const responseHeaders = [{ name: 'content-type', value: 'text/html' }];
      // A page that is gone asks for nothing more.
      page.send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders, body }).catch(() => undefined);
    });
    await page.send('Page.enable');
    await page.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
    const loaded = new Promise<void>((resolve) => page.on('Page.loadEventFired', () => resolve()));
    await page.send('Page.navigate', { url: origin });
    await loaded;
    const expression = `for (const [name, value] of ${JSON.stringify(items.map(({ name, value }) => [name, value]))}) localStorage.setItem(name, value)`;
    const { exceptionDetails } = await page.send('Runtime.evaluate', { expression });
    if (exceptionDetails === undefined) return;
    throw new TabwrightError('browser', `The local storage of ${origin} cannot be filled: ${exceptionDetails.text}`, {
      code: 'storage-state-failed',
      details: { origin },
    });
  } finally {
    if (!connection.closed) await root.send('Target.closeTarget', { targetId });
  }
}
