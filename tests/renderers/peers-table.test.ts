// The table of docs/reference/renderers.md is what peers.py counted, and every format that a peer knows is in it.

import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { comparePeers, peersTable, readPeers } from '../../conformance/renderers/peers.ts';
import { CHAT_FORMATS } from '../../src/tokens/index.ts';

const PAGE = new URL('../../docs/reference/renderers.md', import.meta.url);

/** Neither peer has a renderer for these. */
const WITHOUT_PEER = /^(qwen2\.5|smollm2|gemma3)|\+tool-prompt$/;

it('is the counted one', async () => {
  const rows = (await readFile(PAGE, 'utf8')).split('\n').filter((line) => line.startsWith('|'));
  // As the page is formatted, less its blanks.
  const cells = (table: readonly string[]): readonly string[] =>
    table.map((row) =>
      row
        .split('|')
        .map((cell) => cell.trim())
        .join('|'),
    );
  expect(cells(rows).join('\n')).toContain(
    cells(
      peersTable(await readPeers())
        .split('\n')
        .slice(2),
    ).join('\n'),
  );
});

it('has every format that a peer writes', async () => {
  const { renderers, cookbook } = await readPeers();
  const compared = new Set([...Object.keys(renderers), ...Object.keys(cookbook)]);
  expect(CHAT_FORMATS.filter((name) => !compared.has(name) && !WITHOUT_PEER.test(name))).toEqual([]);
  for (const counts of [...Object.values(renderers), ...Object.values(cookbook)]) {
    const { same, boundaries, text, refused } = counts;
    expect(same + boundaries.length + text.length + refused.length).toBeGreaterThanOrEqual(70);
  }
});

it('tells a count that has changed, whatever the order of names', async () => {
  const { cookbook } = await readPeers();
  const [name, counts] = Object.entries(cookbook).find(([, { text }]) => text.length > 1)!;
  const turned = { ...cookbook, [name]: { ...counts, text: [...counts.text].reverse() } };
  expect(comparePeers(turned, cookbook)).toEqual([]);
  const changed = { ...cookbook, [name]: { ...counts, text: counts.text.slice(1), same: counts.same + 1 } };
  expect(comparePeers(changed, cookbook)).toEqual([expect.stringContaining(name)]);
  expect(comparePeers({}, { [name]: counts })).toHaveLength(1);
});
