import { expect, test } from 'vitest';
import { compareReferences, describeDifference } from './compare-reference.ts';
import { referencePage } from './method-registry.ts';

const THERE = `
### Browser-control methods

- **\`click(target, options?)\`** — Clicks.
- **\`browser.scroll(x, y, dy?, dx?)\`** — Scrolls.
- **\`waitMs(milliseconds)\`** — Waits.
- **\`hover(target)\`** — Hovers over \`click(target)\`.
`;

const HERE = `
### \`click(target | {x, y}, {button = 'left', clickCount = 1}?)\`
### \`scroll(x, y, dy = -300, dx = 0)\`
### \`waitMs(ms = 1000)\`
### \`webmcp.listTools({excludeCustom = false}?)\`
`;

test('methods are compared by name and by which parameters may be left out', () => {
  expect(compareReferences(HERE, THERE).map(describeDifference)).toEqual([
    'missing here: hover',
    'changed: waitMs: here waitMs(ms = 1000), there waitMs(milliseconds)',
    'only here: webmcp.listTools',
  ]);
});

test('a page compared with itself has no differences, and has all methods', () => {
  expect(compareReferences(referencePage(), referencePage())).toEqual([]);
  expect(compareReferences(referencePage(), '')).toHaveLength(34);
});
