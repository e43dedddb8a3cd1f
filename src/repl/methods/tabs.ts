// Tabs: which there are, which one helpers act on, opening and closing them. A tab is a page target of the browser.

import { z } from 'zod';
import { attach, createBlank, isInternal, pages, targetInfo, targets, type TargetInfo } from './attach.ts';
import { helperFailed, isCdpTimeout } from './failures.ts';
import { hostMethod, nonEmpty, text, type MethodContext } from './method.ts';
import { pageSend, poll, untilDialog } from './scope.ts';

const SETTLE_SEC = 5;
const BLANK = /^(?:about:blank|chrome:\/\/(?:newtab|new-tab-page)\/?)$/;

const TAB_ERROR = 'target must be a target id or an object with targetId';
const tabSchema = z
  .union([z.string().min(1), z.looseObject({ targetId: z.string().min(1) })], { error: TAB_ERROR })
  .transform((target) => (typeof target === 'string' ? target : target.targetId));

function tab({ targetId, title, url }: TargetInfo): object {
  return { targetId, title, url };
}

export const listTabs = hostMethod(
  {
    name: 'listTabs',
    namespace: 'browser',
    effect: 'looks',
    signature: 'listTabs(includeChrome = true)',
    description: 'Lists the open tabs as `{targetId, title, url}`. `false` leaves out pages of the browser itself.',
    example: 'const tabs = await listTabs(false);',
  },
  [z.boolean({ error: 'includeChrome must be a boolean' }).default(true)],
  async ({ scope }, includeChrome) =>
    (await pages(scope)).filter(({ url }) => includeChrome || !isInternal(url)).map(tab),
);

export const currentTab = hostMethod(
  {
    name: 'currentTab',
    namespace: 'browser',
    effect: 'looks',
    signature: 'currentTab()',
    description: 'Returns `{targetId, title, url}` of the tab that helpers act on.',
  },
  [],
  async ({ scope, page }) => tab(await targetInfo(scope, (await page()).targetId)),
);

export const switchTab = hostMethod(
  {
    name: 'switchTab',
    namespace: 'browser',
    effect: 'acts',
    signature: 'switchTab(targetId | {targetId})',
    description:
      'Makes another tab, or a frame found by `iframeTarget()`, the one that helpers act on. Returns the session id.',
    example: 'const [first] = await listTabs(false);\nawait switchTab(first);',
  },
  [tabSchema],
  async ({ scope, note }, targetId) => (await attach(scope, targetId, note)).sessionId,
);

export const newTab = hostMethod(
  {
    name: 'newTab',
    namespace: 'browser',
    effect: 'acts',
    signature: "newTab(url = 'about:blank')",
    description:
      'Opens a tab, makes it the one that helpers act on, and returns its target id. With an address, a blank attached tab is used again, and the navigation is given up to 5 seconds to begin.',
    example: 'await newTab("https://example.com");',
  },
  [text('url').default('about:blank')],
  async ({ scope, policy, about, note }, url) => {
    policy.checkUrl('Target.createTarget', url);
    about({ url });
    await scope.browser.connection(scope.signal);
    const reused = url === 'about:blank' ? undefined : await blankAttached({ scope });
    const on = reused ?? (await attach(scope, await createBlank(scope), note));
    if (url === 'about:blank') return on.targetId;
    try {
      await untilDialog(scope, on, () => pageSend(scope.within(SETTLE_SEC * 1000), on, 'Page.navigate', { url }));
    } catch (error) {
      if (!isCdpTimeout(error)) throw error; // a slow server: the tab is there, and goes on loading
    }
    return on.targetId;
  },
);

async function blankAttached({ scope }: Pick<MethodContext, 'scope'>) {
  const { attached } = scope.browser;
  if (attached === undefined) return undefined;
  return BLANK.test((await targetInfo(scope, attached.targetId)).url) ? attached : undefined;
}

export const closeTab = hostMethod(
  {
    name: 'closeTab',
    namespace: 'browser',
    effect: 'acts',
    signature: 'closeTab(target?)',
    description:
      'Closes a tab, by default the one that helpers act on, and waits up to 5 seconds for it to be gone. The next helper attaches to another tab.',
  },
  [tabSchema.optional()],
  async ({ scope, page }, target) => {
    const targetId = target ?? (await page()).targetId;
    const { success } = await scope.send({ sessionId: undefined }, 'Target.closeTarget', { targetId });
    if (!success) throw helperFailed('closeTab', `there is no tab ${targetId}`);
    const waiting = scope.within(SETTLE_SEC * 1000);
    await poll(waiting, { everyMs: 50 }, async () =>
      (await targets(waiting)).some((info) => info.targetId === targetId) ? undefined : true,
    );
    if (scope.browser.attached?.targetId === targetId) scope.browser.attached = undefined;
  },
);

export const ensureRealTab = hostMethod(
  {
    name: 'ensureRealTab',
    namespace: 'browser',
    effect: 'looks',
    signature: 'ensureRealTab()',
    description:
      'Keeps the attached tab, or attaches to one, that is not a page of the browser itself, and returns `{targetId, title, url}`; null when there is none. Opens none.',
  },
  [],
  async ({ scope, note }) => {
    await scope.browser.connection(scope.signal);
    const open = (await pages(scope)).filter(({ url }) => !isInternal(url));
    const chosen = open.find(({ targetId }) => targetId === scope.browser.attached?.targetId) ?? open[0];
    if (chosen === undefined) return null;
    await attach(scope, chosen.targetId, note);
    return tab(chosen);
  },
);

export const iframeTarget = hostMethod(
  {
    name: 'iframeTarget',
    namespace: 'browser',
    effect: 'looks',
    signature: 'iframeTarget(urlSubstring)',
    description:
      "Finds a frame that has a process of its own (as a rule, one of another site) by a part of its address: `{targetId, url, title, type}`, or null. Act in it by `switchTab()` or `js(..., {targetId})`. Frames of the page's own site are reached through the page.",
    example: 'const frame = await iframeTarget("accounts.example.com");\nif (frame) await switchTab(frame);',
  },
  [nonEmpty('urlSubstring')],
  async ({ scope }, part) => {
    const found = (await targets(scope)).find(({ type, url }) => type === 'iframe' && url.includes(part));
    if (found === undefined) return null;
    const { targetId, url, title, type } = found;
    return { targetId, url, title, type };
  },
);
