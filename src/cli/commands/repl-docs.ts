// `tabwright repl docs`: writes the reference of the REPL's methods from the registry, checks that the one in the
// repository is that, or compares it with the published reference of another Browser REPL.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { TabwrightError } from '../../core/index.ts';
import { compareReferences, describeDifference, referencePage } from '../../repl/index.ts';
import type { CommandSpec } from '../run-command.ts';

const schema = z.strictObject({
  check: z.boolean().default(false).describe('write nothing; fail when the page differs from the methods'),
  sync: z
    .string()
    .min(1)
    .optional()
    .describe('write nothing; compare with a published reference, a file or an address'),
  page: z.string().min(1).default('docs/reference/repl.md').describe('where the reference is'),
});

const FETCH_TIMEOUT_MS = 30_000;

export const replDocs: CommandSpec<typeof schema> = {
  name: 'docs',
  summary: 'Write, check or compare the reference of the methods that cells have.',
  examples: ['repl docs', 'repl docs --check', 'repl docs --sync reference.md'],
  schema,
  flags: [],
  async action({ config: { check, sync, page }, signal, print }) {
    const wanted = referencePage();
    if (sync !== undefined) {
      const differences = compareReferences(wanted, await readSource(sync, signal));
      const lines = differences.map(describeDifference);
      print(lines.length === 0 ? 'The methods are the same.' : lines.join('\n'), { differences: [...differences] });
      return;
    }
    if (!check) {
      await mkdir(dirname(page), { recursive: true });
      await writeFile(page, wanted);
      print(`Written: ${page}`, { page });
      return;
    }
    if ((await readText(page)) !== wanted) {
      throw new TabwrightError(
        'config',
        `${page} is not what the methods say; run "tabwright repl docs" and commit it.`,
        {
          code: 'reference-differs',
          details: { page },
        },
      );
    }
    print(`${page} is what the methods say.`, { page });
  },
};

async function readSource(source: string, signal: AbortSignal): Promise<string> {
  if (!/^https?:\/\//.test(source)) return readText(source);
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(FETCH_TIMEOUT_MS)]);
  const response = await fetch(source, { signal: deadline }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw unreadable(source, (error as Error).message, error);
  });
  if (!response.ok) throw unreadable(source, `status ${response.status}`);
  return response.text();
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unreadable(path, (error as Error).message, error);
  }
}

function unreadable(source: string, reason: string, cause?: unknown): TabwrightError {
  return new TabwrightError('config', `${source} cannot be read: ${reason}`, {
    code: 'reference-unreadable',
    details: { source, reason },
    ...(cause === undefined ? {} : { cause }),
  });
}
