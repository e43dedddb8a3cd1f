// Page reuse: a puzzle started in a used page is the puzzle started in a fresh one.

import { expect, test } from 'vitest';
import { createReferences, observePage, type Page } from '../../src/browser/index.ts';
import type { JsonValue } from '../../src/core/index.ts';
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
  };
}

async function picture(page: Page): Promise<string> {
  return `data:image/png;base64,${Buffer.from(await page.screenshot(at)).toString('base64')}`;
}

/** Largest difference of any colour channel of any pixel, 0-255; the page's own decoder does the work. */
function largestDifference(page: Page, first: string, second: string): Promise<JsonValue> {
  return page.evaluate(
    `(async () => {
      const [a, b] = await Promise.all([${JSON.stringify(first)}, ${JSON.stringify(second)}].map(async (url) => {
        const image = await createImageBitmap(await (await fetch(url)).blob());
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height).data;
      }));
      return a.length === b.length ? a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0) : 255;
    })()`,
    at,
  );
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
      // Ordinary mode redraws parts of a picture and rounds some edges differently, by 1 of 255.
      const difference = await largestDifference(fresh.page, await picture(used.page), await picture(fresh.page));
      expect(difference, name).toBeLessThanOrEqual(2);
    }
  }
}, 120_000);
