import { expect, test } from 'vitest';
import { matchesUrl } from './webmcp-custom.ts';

test.each([
  ['https://example.com/a?b=1#c', 'https://example.com/*', true],
  ['https://example.com/a', 'https://example.com/a', true],
  ['https://example.com/a/', 'https://example.com/a', false],
  ['http://example.com/a', 'https://example.com/*', false],
  ['http://example.com/a', '*://example.com/*', true],
  ['ws://example.com/a', '*://example.com/*', false],
  ['https://shop.example.com/a', 'https://*.example.com/*', true],
  ['https://example.com/a', 'https://*.example.com/*', true],
  ['https://badexample.com/a', 'https://*.example.com/*', false],
  ['https://example.com:8443/a', 'https://example.com/*', false],
  ['https://example.com:8443/a', 'https://EXAMPLE.com:8443/*', true],
  ['https://any.test/x/items/7/edit', 'https://*/*/items/*/edit', true],
  ['https://any.test/items/edit', 'https://*/items/*/edit', false],
  ['not an address', 'https://*/*', false],
])('%s against %s: %s', (url, pattern, matches) => {
  expect(matchesUrl(url, [pattern])).toBe(matches);
});

test('a pattern of a thousand stars takes no time', () => {
  const url = `https://example.com/${'a'.repeat(50_000)}`;
  const before = performance.now();
  expect(matchesUrl(url, [`https://*/${'*a'.repeat(999)}*b`])).toBe(false);
  expect(performance.now() - before).toBeLessThan(500);
});
