// Page reuse: a puzzle started in a used page is the puzzle started in a fresh one.

import { expect, test } from 'vitest';
import { createReferences, observePage, type Page } from '../../src/browser/index.ts';
import { PAGE_SOURCE, startExpression, STATE_EXPRESSION } from '../../src/envs/click-checkboxes/page-source.ts';
import { createPuzzle } from '../../src/envs/index.ts';
import { servePage } from '../../src/envs/loopback-site.ts';
import { browsersUnderTest, NEVER, openPage } from './browsers-under-test.ts';

const at = { signal: NEVER };

/** All that an agent, a person or the verifier could tell two pages apart by. */
async function look(page: Page) {
  const nodes = await page.accessibilityTree(at);
  return {
    text: observePage(nodes, createReferences(), { content: true }).text,
    focused: nodes
      .filter((node) => node.properties?.some(({ name, value }) => name === 'focused' && value.value === true))
      .map((node) => node.role?.value as string),
    dom: await page.evaluate(
      '[document.activeElement.tagName, scrollX, scrollY, getSelection().toString(), document.body.innerHTML]',
      at,
    ),
    state: await page.evaluate(STATE_EXPRESSION, at),
    picture: Buffer.from(await page.screenshot(at)).toString('base64'),
  };
}

/** Leaves traces: clicks every control (Submit last), tabs through the page, selects and scrolls. */
async function use(page: Page, seed: number): Promise<void> {
  await page.evaluate(startExpression(createPuzzle(seed)), at);
  const { controls } = observePage(await page.accessibilityTree(at), createReferences());
  for (const control of controls.values()) await page.click(control.backendNodeId, at);
  await page.evaluate(
    `document.body.style.height = '';
    document.querySelector('input')?.focus(); getSelection().selectAllChildren(document.body); scrollTo(0, 50)`,
    at,
  );
}

test('text, focus, scroll, selection, boxes and picture are those of a fresh load, in every mode', async () => {
  await using site = await servePage(PAGE_SOURCE);
  for (const { name, launch } of await browsersUnderTest()) {
    await using used = await openPage(launch, site.url);
    for (const seed of [3, 4, 5]) await use(used.page, seed);
    for (const seed of [6, 7]) {
      const puzzle = createPuzzle(seed);
      await use(used.page, 20 + seed);
      await used.page.evaluate(startExpression(puzzle), at);
      await using fresh = await openPage(launch, site.url);
      await fresh.page.evaluate(startExpression(puzzle), at);
      expect(await look(used.page), name).toEqual(await look(fresh.page));
    }
  }
}, 120_000);
