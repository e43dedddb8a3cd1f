// Sessions that go from one episode to the next as they are, cookies and the open page included: for episodes on sites of our
// own, each of which has an instance to itself. Making a browser as new costs more than most of what oracles do. Not for
// training or evaluation, where nothing of an episode may reach another.

import type { SessionLease, SessionProvider } from '../src/repl/index.ts';

const CLOSE_MS = 60_000;

export function keepSessions(provider: SessionProvider): SessionProvider {
  const idle: SessionLease[] = [];
  return {
    kind: provider.kind,
    async acquire(wait) {
      const lease = idle.pop() ?? (await provider.acquire(wait));
      const giveBack = async (): Promise<void> => {
        if (!lease.closed && (await tidy(lease)) && lease.spoiled === undefined) idle.push(lease);
        else await lease[Symbol.asyncDispose]();
      };
      return Object.create(lease, { [Symbol.asyncDispose]: { value: giveBack } }) as SessionLease;
    },
    async [Symbol.asyncDispose]() {
      for (const lease of idle) await lease[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/**
 * A dialog that is left open would keep the next episode from its page, and a tab would be taken for one that the next opened.
 * False where the session is of no more use.
 */
async function tidy(lease: SessionLease): Promise<boolean> {
  const code = `
    if ((await pageInfo()).dialog) await cdp('Page.handleJavaScriptDialog', { accept: false });
    const [kept, ...others] = await listTabs();
    await switchTab(kept);
    for (const tab of others) await closeTab(tab);`;
  const { signal } = new AbortController();
  try {
    return (await lease.execute({ code, timeoutMs: CLOSE_MS, signal })).success;
  } catch {
    return false; // whoever gives it back ends it then, and another one is started
  }
}
