// Going to an address, and what can be said about the page that is there.

import { targetInfo } from './attach.ts';
import type { Attached, Dialog } from './attached-browser.ts';
import { describeException } from './evaluate.ts';
import { helperFailed } from './failures.ts';
import { hostMethod, nonEmpty } from './method.ts';
import { PAGE_INFO } from './page-scripts.ts';
import { pageSend, untilDialog, type Scope } from './scope.ts';

export const gotoUrl = hostMethod(
  {
    name: 'gotoUrl',
    namespace: 'browser',
    effect: 'acts',
    signature: 'gotoUrl(url)',
    description:
      'Sends the attached page to an address and returns what `Page.navigate` answers: `{frameId, loaderId?, errorText?}`. Does not wait for the page to load, and does not throw when it cannot be reached: look at `errorText`, then use `waitForLoad()` or `waitForElement()`.',
    example: 'await gotoUrl("https://example.com");\nawait waitForLoad();',
  },
  [nonEmpty('url')],
  async ({ scope, page, policy, about }, url) => {
    policy.checkUrl('Page.navigate', url);
    about({ url });
    return navigate(scope, await page(), url);
  },
);

/** The raw answer; a page that asks whether to leave (beforeunload) leaves it open, and the answer without a loader. */
async function navigate(scope: Scope, page: Attached, url: string): Promise<unknown> {
  let answer: unknown = { frameId: page.targetId };
  await untilDialog(scope, page, async () => {
    answer = await pageSend(scope, page, 'Page.navigate', { url });
  });
  return answer;
}

export const pageInfo = hostMethod(
  {
    name: 'pageInfo',
    namespace: 'browser',
    effect: 'looks',
    signature: 'pageInfo()',
    description:
      'Returns `{url, title, viewport: {width, height}, scroll: {x, y}, page: {width, height}, ready_state, dialog}` of the attached page. `dialog` is null or `{type, message}`; while a dialog is open only `{dialog, url?, title?}` is returned. Answer it with `cdp("Page.handleJavaScriptDialog", {accept, promptText?})`.',
    example: 'const { url, title, dialog } = await pageInfo();',
  },
  [],
  async ({ scope, page }) => {
    const on = await page();
    const { dialog } = scope.browser.state(on.sessionId);
    if (dialog !== undefined) return withDialog(scope, on, dialog);
    let info: object | undefined;
    await untilDialog(scope, on, async () => {
      const { result, exceptionDetails } = await pageSend(scope, on, 'Runtime.evaluate', {
        expression: PAGE_INFO,
        returnByValue: true,
      });
      if (exceptionDetails !== undefined) throw helperFailed('pageInfo', describeException(exceptionDetails));
      info = result.value as object;
    });
    const opened = scope.browser.state(on.sessionId).dialog;
    return info === undefined && opened !== undefined ? withDialog(scope, on, opened) : { ...info, dialog: null };
  },
);

async function withDialog(scope: Scope, page: Attached, dialog: Dialog): Promise<object> {
  const { url, title } = await targetInfo(scope, page.targetId);
  return { dialog, url, title };
}
