// What peers make of our conversations, as peers.py counted it: reading the file, comparing a new count with it, and the
// table of docs/reference/renderers.md, which a test holds against the file.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const PEERS_FILE = 'conformance/renderers/peers.json';

export type FormatCounts = {
  /** Conversations whose prompt is the same token for token. */
  readonly same: number;
  /** Those whose text is the same and whose tokens are cut otherwise. */
  readonly boundaries: readonly string[];
  readonly text: readonly string[];
  readonly refused: readonly string[];
};
export type PeerCounts = Readonly<Record<string, FormatCounts>>;
export type Peers = { readonly renderers: PeerCounts; readonly cookbook: PeerCounts };

export async function readPeers(): Promise<Peers> {
  return JSON.parse(await readFile(join(import.meta.dirname, 'peers.json'), 'utf8')) as Peers;
}

/** What differs, in words. */
export function comparePeers(found: PeerCounts, committed: PeerCounts): readonly string[] {
  const names = [...new Set([...Object.keys(found), ...Object.keys(committed)])];
  return names
    .filter((name) => JSON.stringify(sorted(found[name])) !== JSON.stringify(sorted(committed[name])))
    .map((name) => `${name}: ${words(found[name])}, not ${words(committed[name])}`);
}

function sorted(counts: FormatCounts | undefined): readonly unknown[] {
  if (counts === undefined) return [];
  return [counts.same, ...[counts.boundaries, counts.text, counts.refused].map((names) => [...names].sort())];
}

/** As a cell of the table: same, other boundaries, other text, refused. */
export function words(counts: FormatCounts | undefined): string {
  if (counts === undefined) return '-';
  const { same, boundaries, text, refused } = counts;
  return [same, boundaries.length, text.length, refused.length].join(', ');
}

/** The table of the reference page. */
export function peersTable({ renderers, cookbook }: Peers): string {
  const names = [...new Set([...Object.keys(renderers), ...Object.keys(cookbook)])].sort();
  return [
    '| format | PyPI `renderers` 0.1.12 | `tinker-cookbook` 0.5.8 |',
    '|---|---|---|',
    ...names.map((name) => `| ${name} | ${words(renderers[name])} | ${words(cookbook[name])} |`),
  ].join('\n');
}
