// Reads a frozen page by the expressions of a task file: in a page of the host's own, in a context of its own, offline and
// without scripts. Expressions come from the file; the page that was frozen only gives the nodes.

import type { CdpSession } from '../../../browser/index.ts';
import { TabwrightError } from '../../../core/index.ts';
import type { HostTab } from '../../../repl/index.ts';
import { withDeadline } from '../../../util/index.ts';
import type { FrozenPage } from './frozen-page.ts';
import { REBUILD_SOURCE } from './rebuild-source.ts';

export type FrozenRead = {
  /** An expression over `document`; empty: the page's source. */
  readonly locator: string;
  readonly prepare: readonly string[];
};

export type ReadOptions = {
  readonly signal: AbortSignal;
  /** Milliseconds. Default 30,000. */
  readonly deadlineMs?: number;
  /** Milliseconds for the browser to make a context, and to end it. Default 15,000. */
  readonly contextMs?: number;
};

/** The text of what each expression gives; null where it gives nothing or fails, as where the page has no such thing. */
export async function readFrozen(
  tab: HostTab,
  page: FrozenPage,
  reads: readonly FrozenRead[],
  { signal, deadlineMs = 30_000, contextMs = 15_000 }: ReadOptions,
): Promise<readonly (string | null)[]> {
  const { root } = tab.connection;
  const onExpiry = (): Error =>
    new TabwrightError('env', `A frozen page could not be read within ${deadlineMs} ms.`, { code: 'frozen-page-slow' });
  const hangs = (what: string) => (): Error => browserHangs(what, contextMs);
  const browserContextId = await withDeadline(
    { ms: contextMs, signal, onExpiry: hangs('make a context for a frozen page') },
    (inner) => openContext(root, inner),
  );
  try {
    return await withDeadline({ ms: deadlineMs, signal, onExpiry }, async () => {
      const build = (): Promise<Built> => buildPage(tab, page, browserContextId);
      let shared: Promise<Built> | undefined;
      const texts: (string | null)[] = [];
      for (const { locator, prepare } of reads) {
        // What one prepares is not there for others.
        const built = await (prepare.length > 0 ? build() : (shared ??= build()));
        for (const expression of prepare) await built.session.send('Runtime.evaluate', { expression, timeout: 5_000 });
        texts.push(locator === '' ? built.source : await textOf(built.session, locator));
      }
      return texts;
    });
  } finally {
    // Its pages end with it, also one in which an expression goes on for ever.
    if (!tab.connection.closed) {
      await withDeadline({ ms: contextMs, onExpiry: hangs('end the context of a frozen page') }, () =>
        root.send('Target.disposeBrowserContext', { browserContextId }),
      );
    }
  }
}

/** One that comes after nobody waits for it any more is ended. */
async function openContext(root: CdpSession, signal: AbortSignal): Promise<string> {
  const { browserContextId } = await root.send('Target.createBrowserContext', { disposeOnDetach: true });
  if (signal.aborted) await root.send('Target.disposeBrowserContext', { browserContextId });
  return browserContextId;
}

function browserHangs(what: string, ms: number): TabwrightError {
  return new TabwrightError('browser', `The browser did not ${what} within ${ms} ms.`, {
    code: 'browser-hangs',
    details: { ms },
    retryable: true,
  });
}

type Built = { readonly session: CdpSession; readonly source: string };

async function buildPage(
  { connection, attach }: HostTab,
  { nodes }: FrozenPage,
  browserContextId: string,
): Promise<Built> {
  const { targetId } = await connection.root.send('Target.createTarget', { url: 'about:blank', browserContextId });
  const session = connection.session(await attach(targetId));
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: true,
    latency: 0,
    downloadThroughput: 0,
    uploadThroughput: 0,
  });
  await session.send('Emulation.setScriptExecutionDisabled', { value: true });
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `(${REBUILD_SOURCE})(${JSON.stringify(nodes)})`,
    returnByValue: true,
  });
  if (exceptionDetails === undefined) return { session, source: String(result.value) };
  const reason = exceptionDetails.exception?.description ?? exceptionDetails.text;
  throw new TabwrightError('env', `A frozen page could not be built: ${reason}`, { code: 'frozen-page-broken' });
}

/** Null where it gives nothing or fails, as where the page has no such thing. */
async function textOf(session: CdpSession, locator: string): Promise<string | null> {
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    // A value that is no text is told as text there, where what it is is known.
    expression: `(() => { const value = (${locator}); return value === null || value === undefined ? null : String(value); })()`,
    returnByValue: true,
    timeout: 5_000,
  });
  return exceptionDetails !== undefined || typeof result.value !== 'string' ? null : result.value;
}
