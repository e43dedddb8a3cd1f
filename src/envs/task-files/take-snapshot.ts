// Freezes the end of an episode for its task's checks: the last address, what page targets hold, what sites say their
// state is. The tab that was acted on is looked at and left where it is; other pages are opened beside it.

import { TabwrightError, type JsonValue } from '../../core/index.ts';
import type { HostTab, SessionLease } from '../../repl/index.ts';
import { withDeadline } from '../../util/index.ts';
import { targetKey, type NetworkEvent, type Snapshot } from './grade/index.ts';
import type { LoadedTask, PageTarget } from './loaded-task.ts';
import { freezeAt, freezePage, readFrozen, type FrozenPage, type ReadOptions } from './pages/index.ts';

export type TakeSnapshotOptions = {
  readonly answer: string | undefined;
  readonly session: SessionLease;
  readonly network?: readonly NetworkEvent[];
  /** Milliseconds for each thing that is asked of the tab, and for a frozen page to be read. Default 15,000 and 30,000. */
  readonly tabMs?: number;
  readonly readMs?: number;
  readonly signal: AbortSignal;
};

const TAB_MS = 15_000;
const READ_MS = 30_000;

type Waits = Required<Pick<TakeSnapshotOptions, 'signal' | 'tabMs' | 'readMs'>>;
const reading = ({ signal, tabMs, readMs }: Waits): ReadOptions => ({ signal, deadlineMs: readMs, contextMs: tabMs });
/** In an address of a check: where the actor ended. */
const LAST_URL = '__last_url__';

/** Undefined where pages are to be looked at and the tab that was acted on has been closed: only who acts does that. */
export async function takeSnapshot(
  { id, checks }: LoadedTask,
  options: TakeSnapshotOptions,
): Promise<Snapshot | undefined> {
  const { answer, session, network, signal, tabMs = TAB_MS, readMs = READ_MS } = options;
  const wait = { signal, tabMs, readMs };
  const targets = checks.flatMap((check) => (check.kind === 'page-content' ? check.targets : []));
  const stateUrls = [...new Set(checks.flatMap((check) => (check.kind === 'state' ? [check.stateUrl] : [])))];
  const looks = targets.length > 0 || stateUrls.length > 0 || checks.some(({ kind }) => kind === 'final-url');
  const texts = new Map<string, string | null>();
  const states = new Map<string, JsonValue>();
  if (!looks) return { answer, url: undefined, texts, states, network };
  const tab = await tabOf(session, id, wait);
  if (tab === undefined) return undefined;
  for (const [key, read] of await readTargets(tab, targets, wait)) texts.set(key, read);
  for (const url of stateUrls) states.set(url, await readState(tab, url, wait));
  return { answer, url: tab.url, texts, states, network };
}

async function tabOf(session: SessionLease, id: string, { signal, tabMs }: Waits): Promise<HostTab | undefined> {
  if (session.tab === undefined) {
    throw new TabwrightError(
      'config',
      `The task ${id} is judged by its pages, and a browser of this kind cannot be looked into: use a local one.`,
      {
        code: 'no-host-view',
        details: { task: id },
      },
    );
  }
  return session.tab({ signal, deadlineMs: tabMs });
}

async function readTargets(
  tab: HostTab,
  targets: readonly PageTarget[],
  wait: Waits,
): Promise<ReadonlyMap<string, string | null>> {
  const places = new Map<string | undefined, PageTarget[]>();
  for (const target of targets) {
    const url = addressOf(target.page, tab.url);
    places.set(url, [...(places.get(url) ?? []), target]);
  }
  const texts = new Map<string, string | null>();
  for (const [url, there] of places) {
    const ownAddress = there.some(({ page }) => typeof page === 'object' && !page.url.includes(LAST_URL));
    const page =
      url === undefined
        ? await freezeTab(tab, wait)
        : ownAddress
          ? await freezeAt(tab, url, wait)
          : await unlessDead(tab, wait, () => freezeAt(tab, url, wait));
    const read = page === undefined ? there.map(() => null) : await readFrozen(tab, page, there, reading(wait));
    there.forEach((target, i) => texts.set(targetKey(target), read[i]));
  }
  return texts;
}

/** Undefined for the tab itself. */
function addressOf(page: PageTarget['page'], last: string): string | undefined {
  if (page === 'last') return undefined;
  if (typeof page === 'object') return page.url.replaceAll(LAST_URL, last);
  // The post that a page of comments belongs to: /f/<forum>/<post>/, whatever follows.
  const post = /^https?:\/\/[^/]+\/f\/[^/]+\/[^/?#]+/u.exec(last)?.[0];
  return post === undefined ? last : `${post}/`;
}

/** Undefined where the page does not answer. */
function freezeTab(tab: HostTab, wait: Waits): Promise<FrozenPage | undefined> {
  const { connection, targetId, attach, url } = tab;
  const onExpiry = (): Error =>
    new TabwrightError('browser', `The page ${url} does not answer.`, { code: 'page-mute', details: { url } });
  const limit = { ms: wait.tabMs, onExpiry };
  return unlessDead(tab, wait, async () => {
    const session = connection.session(await withDeadline({ ...limit, signal: wait.signal }, () => attach(targetId)));
    try {
      return await withDeadline({ ...limit, signal: wait.signal }, () => freezePage(session, url));
    } finally {
      if (!connection.closed) {
        await withDeadline(limit, () => connection.root.send('Target.detachFromTarget', { sessionId: session.id }));
      }
    }
  });
}

/**
 * Undefined where a page that the actor chose cannot be had: an actor that ends so has not done its task, and must not be
 * able to make the episode one that does not count. A browser that is gone throws.
 */
async function unlessDead(
  tab: HostTab,
  wait: Waits,
  freeze: () => Promise<FrozenPage>,
): Promise<FrozenPage | undefined> {
  try {
    return await freeze();
  } catch (error) {
    wait.signal.throwIfAborted();
    if (tab.connection.closed || !(error instanceof TabwrightError)) throw error;
    // Where a page of the host's own does not answer either, it is the machine: that throws.
    await readFrozen(tab, { url: 'about:blank', nodes: [] }, [{ locator: 'document', prepare: [] }], reading(wait));
    return undefined;
  }
}

async function readState(tab: HostTab, url: string, wait: Waits): Promise<JsonValue> {
  const page = await freezeAt(tab, url, wait);
  const pre = { locator: `document.querySelector('pre').textContent`, prepare: [] };
  const [text] = await readFrozen(tab, page, [pre], reading(wait));
  try {
    return JSON.parse(text ?? '') as JsonValue;
  } catch (cause) {
    throw new TabwrightError('env', `${url} shows no JSON in a <pre>, so the site's state is not known.`, {
      code: 'no-state',
      details: { url },
      cause,
    });
  }
}
