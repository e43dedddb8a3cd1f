// A signed-in state in Playwright's format (`context.storageState()`): cookies, and what sites keep in local storage. Read
// and checked here, and put into an episode's browser before its first page.

import { z } from 'zod';
import { TabwrightError } from '../../../core/index.ts';
import type { CdpConnection } from '../../../browser/index.ts';
import { withDeadline } from '../../../util/index.ts';
import { cookieProblem } from './cookie-problem.ts';

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
        indexedDB: z.array(z.unknown()).default([]),
      }),
    )
    .default([]),
});

export type StorageState = z.output<typeof stateSchema> & {
  /** For messages. */
  readonly name: string;
};

/** Origins whose databases are left out: nothing here fills them. */
export function withoutDatabases({ origins }: StorageState): readonly string[] {
  return origins.filter(({ indexedDB }) => indexedDB.length > 0).map(({ origin }) => origin);
}

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
  if (cookies.length === 0 && origins.every(({ localStorage }) => localStorage.length === 0)) {
    throw noState(name, 'it holds no cookies and no local storage');
  }
  for (const [i, cookie] of cookies.entries()) {
    const problem = cookieProblem(cookie);
    if (problem !== undefined) {
      const which = `${JSON.stringify(cookie.name.slice(0, 100))} of ${JSON.stringify(cookie.domain.slice(0, 100))}`;
      throw noState(name, `its cookie ${which} (cookies.${i}) ${problem}`);
    }
  }
  return { ...parsed.data, name };
}

function noState(name: string, reason: string): TabwrightError {
  return new TabwrightError(
    'config',
    `${name} is no storage state: ${reason}. Playwright writes one with context.storageState({ path }).`,
    { code: 'bad-storage-state', details: { file: name, reason } },
  );
}

/** Milliseconds for a state, and more for each origin. */
const FILL_MS = 30_000;
const ORIGIN_MS = 500;

/** What a state may take, milliseconds. */
export function fillMsOf({ origins }: StorageState): number {
  return FILL_MS + ORIGIN_MS * origins.length;
}

/** Cookies that have run out are left out: a browser takes them for a wish to delete. */
export async function applyStorageState(
  connection: CdpConnection,
  state: StorageState,
  { signal, now = Date.now() }: { readonly signal: AbortSignal; readonly now?: number },
): Promise<void> {
  const { name: file, cookies } = state;
  const live = cookies
    .filter(({ expires }) => expires < 0 || expires * 1000 > now)
    .map(({ name, value, domain, path, expires, httpOnly, secure, sameSite }) => ({
      ...{ name, value, domain, path, httpOnly, secure },
      ...(expires < 0 ? {} : { expires }),
      ...(sameSite === undefined ? {} : { sameSite }),
    }));
  const origins = state.origins.filter(({ localStorage }) => localStorage.length > 0);
  const ms = fillMsOf(state);
  let step = 'its cookies were not set';
  const onExpiry = (): TabwrightError => notFilled(file, `${step} within ${ms} ms`, true);
  await withDeadline({ ms, signal, onExpiry }, async () => {
    if (live.length > 0) {
      await connection.root.send('Storage.setCookies', { cookies: live }).catch((error: unknown) => {
        throw notFilled(file, `its cookies were not taken: ${(error as Error).message}`, false);
      });
    }
    if (origins.length === 0) return;
    await inBlankTab(connection, async (fill) => {
      for (const [i, origin] of origins.entries()) {
        step = `the local storage of ${i} of ${origins.length} origins was filled, and not that of ${origin.origin},`;
        const problem = await fill(origin);
        if (problem !== undefined) {
          throw notFilled(file, `the local storage of ${origin.origin} cannot be filled: ${problem}`, false);
        }
      }
    });
  });
}

function notFilled(state: string, what: string, retryable: boolean): TabwrightError {
  return new TabwrightError('browser', `The storage state ${state} was not put into the browser: ${what}.`, {
    code: 'storage-state-failed',
    details: { state },
    retryable,
  });
}

type Origin = StorageState['origins'][number];

/** A tab whose pages are an origin's by their address alone: nothing is asked of the sites. */
async function inBlankTab(
  connection: CdpConnection,
  run: (fill: (origin: Origin) => Promise<string | undefined>) => Promise<void>,
): Promise<void> {
  const { root } = connection;
  const { targetId } = await root.send('Target.createTarget', { url: 'about:blank', background: true });
  try {
    const { sessionId } = await root.send('Target.attachToTarget', { targetId, flatten: true });
    const page = connection.session(sessionId);
    page.on('Fetch.requestPaused', ({ requestId }) => {
      const body = Buffer.from('<link rel=icon href=data:,><title>filled</title>').toString('base64');
      const responseHeaders = [{ name: 'content-type', value: 'text/html' }];
      // A page that is gone asks for nothing more.
      page.send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders, body }).catch(() => undefined);
    });
    await page.send('Page.enable');
    await page.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
    await run(async ({ origin, localStorage }) => {
      let off = (): void => undefined;
      const loaded = new Promise<void>((resolve) => (off = page.on('Page.loadEventFired', () => resolve())));
      const { errorText } = await page.send('Page.navigate', { url: origin });
      if (errorText === undefined) await loaded;
      off();
      if (errorText !== undefined) return errorText;
      const items = JSON.stringify(localStorage.map(({ name, value }) => [name, value]));
      const expression = `for (const [name, value] of ${items}) localStorage.setItem(name, value)`;
      const { exceptionDetails } = await page.send('Runtime.evaluate', { expression });
      const said = exceptionDetails?.exception?.description ?? exceptionDetails?.text;
      return said?.split('\n')[0].replace(/\.$/u, '').slice(0, 200);
    });
  } finally {
    if (!connection.closed) await root.send('Target.closeTarget', { targetId });
  }
}
