// A person's files at a storage service: invoices, documents with versions, tables. Drawn by seed, without pages.

import type { Rng } from '../../../util/index.ts';
import { code, distinct, pounds, some } from '../kit/words.ts';

export const FOLDERS = ['Invoices', 'Documents', 'Tables', 'Old'];
const MONTHS = 'January,February,March,April,May,June,July,August,September,October,November,December'.split(',');
const FIRMS = ['Brightwater Energy', 'Copperline Telecom', 'Dale Insurance', 'Fulmar Travel'];
const DOCUMENTS = ['Lease', 'Curriculum vitae', 'Wedding speech', 'Garden plan', 'House rules', 'Travel plan'];
const TABLES = ['Expenses', 'Tombola', 'Choir fees', 'Bake sale'];

export type StoredFile = {
  readonly id: string;
  name: string;
  folder: string;
  /** Oldest first. */
  readonly versions: readonly { readonly id: string; readonly day: string; readonly text: string }[];
};

export type FilesState = {
  files: StoredFile[];
  /** What was served as a download, each once: `file/version`. */
  downloads: { id: string }[];
  uploads: { id: string; name: string; text: string }[];
};

export function filesWorld(rng: Rng): FilesState {
  /** Days on which versions were saved, oldest first. */
  const days = (count: number): readonly string[] =>
    [...distinct(rng, count, [0, 12 * 28])]
      .sort((a, b) => a - b)
      .map((n) => `2026-${String(1 + Math.floor(n / 28)).padStart(2, '0')}-${String(1 + (n % 28)).padStart(2, '0')}`);
  const invoices = FIRMS.flatMap((firm) =>
    some(rng, MONTHS, 4).map((month) => ({
      name: `${firm} ${month} 2026.txt`,
      folder: 'Invoices',
      texts: [
        `Invoice of ${firm} for ${month} 2026\nTotal: ${pounds(rng.integer(1_000, 20_000))}\nNumber: ${code(rng, 8)}\n`,
      ],
    })),
  );
  const documents = some(rng, DOCUMENTS, 4).map((title) => ({
    name: `${title}.txt`,
    folder: 'Documents',
    texts: Array.from({ length: 3 }, (_, i) => `${title}, draft ${i + 1}, mark ${code(rng, 6)}\n`),
  }));
  const tables = TABLES.map((title) => ({
    name: `${title}.csv`,
    folder: 'Tables',
    texts: [
      `item,amount\n${distinct(rng, 7, [3, 90])
        .map((amount) => `${code(rng, 4)},${amount}`)
        .join('\n')}\n`,
    ],
  }));
  const files = [...rng.shuffle(invoices), ...documents, ...tables].map(({ name, folder, texts }, i) => {
    const saved = days(texts.length);
    return {
      id: `f${i + 1}`,
      name,
      folder,
      versions: texts.map((text, n) => ({ id: `v${n + 1}`, day: saved[n], text })),
    };
  });
  return { files, downloads: [], uploads: [] };
}
