import { expect, test } from 'vitest';
import { ALL_METHODS, CELL_METHODS, helpTexts, referencePage, toolDescription } from './method-registry.ts';

const REPL = 'help write emitImage';
const BROWSER =
  'cdp drainEvents waitForEvent gotoUrl pageInfo accessibilitySnapshot click typeText fillInput pressKey scroll ' +
  'captureScreenshot listTabs currentTab switchTab newTab closeTab ensureRealTab iframeTarget waitMs waitForLoad ' +
  'waitForElement waitForNetworkIdle js uploadFile httpGet';
const WEBMCP = 'listTools invokeTool addCustomTools listCustomTools removeCustomTool';

test('the methods are those of the contract, and no removed one is among them', () => {
  const names = (namespace: string): string =>
    ALL_METHODS.filter((method) => method.namespace === namespace)
      .map(({ name }) => name)
      .join(' ');
  expect([names('repl'), names('browser'), names('webmcp')]).toEqual([REPL, BROWSER, WEBMCP]);
  expect(CELL_METHODS.filter(({ sync }) => sync).map(({ name }) => name)).toEqual(['help', 'write']);
});

test('every method has help under its qualified and its bare name, beginning with its signature', () => {
  const texts = helpTexts();
  for (const { namespace, name, signature, description } of ALL_METHODS) {
    expect(texts[name]).toBe(texts[`${namespace}.${name}`]);
    expect(texts[name].split('\n').slice(0, 3)).toEqual([signature, '', description]);
    expect(signature).toMatch(new RegExp(`^(?:${namespace}\\.)?${name}\\(`));
  }
  expect(texts['']).toContain(
    `REPL: ${REPL.split(' ')
      .map((name) => `repl.${name}`)
      .join(', ')}`,
  );
  expect(texts['']).toContain(`Browser control: ${BROWSER.replaceAll(' ', ', ')}`);
  expect(texts['']).toContain(
    `WebMCP: ${WEBMCP.split(' ')
      .map((name) => `webmcp.${name}`)
      .join(', ')}`,
  );
  expect(Object.keys(texts)).toHaveLength(2 * ALL_METHODS.length + 1);
});

test('the tool description and the reference name every method', () => {
  for (const { signature } of ALL_METHODS) {
    expect(toolDescription()).toContain(`- ${signature}: `);
    expect(referencePage()).toContain(`### \`${signature}\``);
  }
});
