// A page of the host's own with the cookies of an episode: opened beside the tab that was acted on, which stays where it is.

import { TabwrightError } from '../../../core/index.ts';
import type { CdpSession } from '../../../browser/index.ts';
import type { HostTab } from '../../../repl/index.ts';
import { withDeadline } from '../../../util/index.ts';
import { freezePage, type FrozenPage } from './frozen-page.ts';

export type OwnPageOptions = {
  readonly signal: AbortSignal;
  /** Milliseconds for the browser to open a page at all. Default 15,000. */
  readonly openMs?: number;
  /** Milliseconds until it has loaded. Default 30,000. */
  readonly loadMs?: number;
  /** Milliseconds for what it fetches by itself after that; a page that never ends doing so is taken as it is. Default 5,000. */
  readonly quietMs?: number;
  /** Milliseconds for it to give its tree. Default 15,000. */
  readonly freezeMs?: number;
};

/** Frozen once it has loaded and its network is quiet. Rejects (boundary `browser`) where it cannot be opened. */
export async function freezeAt(tab: HostTab, url: string, options: OwnPageOptions): Promise<FrozenPage> {
  const { signal, openMs = 15_000, loadMs = 30_000, quietMs = 5_000, freezeMs = 15_000 } = options;
  const { connection } = tab;
  const late = (what: string, ms: number) => (): Error => notOpened(url, `${what} within ${ms} ms`);
  const opening = { ms: openMs, signal, onExpiry: late('the browser did not open a page', openMs) };
  const targetId = await withDeadline(opening, (inner) => openBlank(tab, inner));
  try {
    const session = connection.session(await withDeadline(opening, () => tab.attach(targetId)));
    const reached = createReached(session);
    const loader = await withDeadline(
      { ms: loadMs, signal, onExpiry: late('it did not load', loadMs) },
      async (inner) => {
        await session.send('Page.enable');
        await session.send('Page.setLifecycleEventsEnabled', { enabled: true });
        const { errorText, loaderId } = await session.send('Page.navigate', { url });
        if (errorText !== undefined && errorText !== '') throw notOpened(url, errorText);
        await reached.wait('load', loaderId, inner);
        return loaderId;
      },
    );
    const notQuiet = new Error('the network is not quiet');
    try {
      await withDeadline({ ms: quietMs, signal, onExpiry: () => notQuiet }, (inner) =>
        reached.wait('networkIdle', loader, inner),
      );
    } catch (error) {
      if (error !== notQuiet) throw error;
    }
    return await withDeadline(
      { ms: freezeMs, signal, onExpiry: late('it did not give its tree', freezeMs) },
      async () => {
        const { targetInfo } = await connection.root.send('Target.getTargetInfo', { targetId });
        return freezePage(session, targetInfo.url);
      },
    );
  } finally {
    if (!connection.closed) {
      const closing = { ms: openMs, onExpiry: late('the browser did not close it', openMs) };
      await withDeadline(closing, () => connection.root.send('Target.closeTarget', { targetId }));
    }
  }
}

/** Its target. One that comes after nobody waits for it any more is closed. */
async function openBlank({ connection: { root }, browserContextId }: HostTab, signal: AbortSignal): Promise<string> {
  const { targetId } = await root.send('Target.createTarget', {
    url: 'about:blank',
    background: true,
    ...(browserContextId === undefined ? {} : { browserContextId }),
  });
  if (signal.aborted) await root.send('Target.closeTarget', { targetId });
  return targetId;
}

type Reached = { wait(name: string, loaderId: string | undefined, signal: AbortSignal): Promise<void> };

/** Which moments of loading have come, told also to those who ask later. */
function createReached(session: CdpSession): Reached {
  const seen: { name: string; loaderId: string }[] = [];
  const waiting = new Set<() => void>();
  session.on('Page.lifecycleEvent', ({ name, loaderId }) => {
    seen.push({ name, loaderId });
    for (const look of waiting) look();
  });
  return {
    wait: (name, loaderId, signal) =>
      new Promise((resolve, reject) => {
        const abort = (): void => {
          waiting.delete(look);
          reject(signal.reason as Error);
        };
        const look = (): void => {
          if (!seen.some((one) => one.name === name && (loaderId === undefined || one.loaderId === loaderId))) return;
          waiting.delete(look);
          signal.removeEventListener('abort', abort);
          resolve();
        };
        signal.addEventListener('abort', abort, { once: true });
        waiting.add(look);
        look();
      }),
  };
}

function notOpened(url: string, reason: string): TabwrightError {
  return new TabwrightError('browser', `The page ${url} that a check looks at cannot be opened: ${reason}`, {
    code: 'check-page-failed',
    details: { url, reason },
    retryable: true,
  });
}
