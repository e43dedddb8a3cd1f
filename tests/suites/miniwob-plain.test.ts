// The text of a page that is told without the accessibility tree is the text that is told with it: on the pages of all tasks,
// as they start and after clicks and words of a policy without a plan, from one moment each.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReferences, launchBrowser, type Browser, type Page } from '../../src/browser/index.ts';
import { MINIWOB_TASKS } from '../../src/envs/index.ts';
import { layoutNodes, SNAPSHOT_PARAMS } from '../../src/envs/miniwob/layout.ts';
import { observeMiniwob } from '../../src/envs/miniwob/observation.ts';
import { READY_EXPRESSION, startExpression } from '../../src/envs/miniwob/page-script.ts';
import { saidByPlainPage } from '../../src/envs/miniwob/plain-page.ts';
import { saidByTree } from '../../src/envs/miniwob/said.ts';
import { serveMiniwob, type MiniwobSite } from '../../src/envs/miniwob/site.ts';
import { miniwobPages } from './miniwob-pages.ts';

const pages = await miniwobPages();
const missing = 'missing' in pages ? pages.missing : undefined;
const at = { signal: new AbortController().signal };
const CLICKS = 6;

test.skipIf(missing === undefined)(`the pages are here (${missing ?? ''})`, () => undefined);

describe.skipIf(missing !== undefined)('plain pages', () => {
  let site: MiniwobSite;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    if (!('content' in pages)) return;
    site = await serveMiniwob(pages.content);
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 332, height: 214 } });
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
  });

  /** What the tree makes of the page, what its layout alone does (undefined where it cannot), and what can be clicked. */
  const look = async (): Promise<{ tree: string; plain: string | undefined; controls: readonly number[] }> => {
    const [ax, snapshot] = await Promise.all([
      page.accessibilityTree(at),
      page.read('snapshot', (session) => session.send('DOMSnapshot.captureSnapshot', SNAPSHOT_PARAMS), at),
    ]);
    const layout = layoutNodes(snapshot);
    const said = saidByPlainPage(layout);
    const tree = observeMiniwob({ said: saidByTree(ax), layout, references: createReferences() });
    const plain = said && observeMiniwob({ said, layout, references: createReferences() });
    return {
      tree: tree.text,
      plain: plain?.text,
      controls: [...tree.controls.values()].map(({ backendNodeId }) => backendNodeId),
    };
  };

  test('say the same with and without the accessibility tree', async () => {
    const plainTasks = new Set<string>();
    for (const { name } of MINIWOB_TASKS) {
      await page.navigate(site.urlOf(name), at);
      await expect.poll(() => page.evaluate(READY_EXPRESSION, at)).toBe(true);
      await page.evaluate(startExpression(3, 'train'), at);
      const clicked = new Set<number>();
      for (let click = 0; click <= CLICKS; click++) {
        const { tree, plain, controls } = await look();
        if (plain !== undefined) {
          plainTasks.add(name);
          expect(plain, `${name} after ${click} clicks`).toBe(tree);
        }
        const next = controls.find((control) => !clicked.has(control));
        if (next === undefined) break;
        clicked.add(next);
        await page.click(next, at);
        await page.perform('type', (session) => session.send('Input.insertText', { text: 'Zq 7é' }), at);
      }
    }
    // Elsewhere the tree is asked for, and there is nothing to compare.
    expect(plainTasks.size).toBeGreaterThanOrEqual(95);
    for (const name of ['click-checkboxes', 'login-user', 'email-inbox', 'phone-book'])
      expect(plainTasks).toContain(name);
  }, 300_000);
});
