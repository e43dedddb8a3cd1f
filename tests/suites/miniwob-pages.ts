// The pages of MiniWoB++ for tests: those of this machine, else its wheel from the Python package index, kept under
// node_modules/.cache. Where neither is to be had, tests are skipped and say why.

import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TabwrightError } from '../../src/core/index.ts';
import { findMiniwobContent, MINIWOB_VERSION, type MiniwobContent } from '../../src/envs/index.ts';

export type Pages = { readonly content: MiniwobContent } | { readonly missing: string };

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/miniwob/', import.meta.url));
export const WHEEL = join(CACHE, `miniwob-${MINIWOB_VERSION}-py3-none-any.whl`);
const { signal } = new AbortController();

export async function miniwobPages(): Promise<Pages> {
  for (const find of [{ signal }, { signal, from: WHEEL }]) {
    const content = await found(find);
    if (content !== undefined) return { content };
  }
  return missing((await fetchWheel()) ?? (await wheelContent()));
}

/** The wheel itself, where it could be fetched. */
export async function miniwobWheel(): Promise<string | { readonly missing: string }> {
  if ((await found({ signal, from: WHEEL })) !== undefined) return WHEEL;
  const problem = await fetchWheel();
  return problem === undefined ? WHEEL : { missing: problem };
}

async function found(options: Parameters<typeof findMiniwobContent>[0]): Promise<MiniwobContent | undefined> {
  try {
    return await findMiniwobContent(options);
  } catch (error) {
    if (error instanceof TabwrightError && error.code === 'miniwob-not-found') return undefined;
    throw error;
  }
}

async function wheelContent(): Promise<MiniwobContent> {
  return findMiniwobContent({ signal, from: WHEEL });
}

function missing(result: string | MiniwobContent): Pages {
  return typeof result === 'string' ? { missing: result } : { content: result };
}

/** Undefined when it is there, else why not. */
async function fetchWheel(): Promise<string | undefined> {
  mkdirSync(CACHE, { recursive: true });
  const args = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', CACHE, `miniwob==${MINIWOB_VERSION}`];
  try {
    await promisify(execFile)('python3', args, { timeout: 60_000 });
    return undefined;
  } catch (error) {
    return `no pages of MiniWoB++: MINIWOB_DIR is not set, and pip brought none (${(error as Error).message.split('\n')[0]})`;
  }
}
